"""Control flow by functions: conditions, loops, maps and scans."""
