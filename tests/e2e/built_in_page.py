"""What the page that a server has at ``/`` shows, as expressions for a ``Tab``."""

PHASE = "document.body.dataset.phase"
LIVE = f"{PHASE} === 'live'"
PICTURE_BEGAN = "!!document.querySelector('.tile.is-main.has-picture')"
PLAYED = "document.querySelector('.tile.is-main video').getVideoPlaybackQuality().totalVideoFrames"
