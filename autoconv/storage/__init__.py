"""Files that survive a killed writer: arrays with checksums, and JSON with a checksum."""
