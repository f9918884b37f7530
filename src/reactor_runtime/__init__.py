"""Serve a real-time generative model over WebRTC: one class, one device or many."""

__version__ = "0.1.0"
