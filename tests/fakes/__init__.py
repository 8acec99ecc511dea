"""Stand-ins for the outside world that the tests talk to over real interfaces."""
