"""May a call run? Pure decisions over rules, modes and the accesses of the call."""
