"""Where the answers come from: providers, and the way to them."""
