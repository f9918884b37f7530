"""LiveStream: everything between a model's chunks and encoded frames, for all its output tracks.

One timeline, one pacer, one encoder per (track, codec) while somebody needs it, one delivery call
per encoded frame on the event loop.
"""
