"""`tensorflow.python.pywrap_tfe`: devices."""


def TF_ListPluggablePhysicalDevices() -> list[bytes]:
    """Return an empty list: no devices can be plugged in."""
    return []
