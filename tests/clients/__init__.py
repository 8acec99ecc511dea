"""The editors that Sidelight lives in, real ones, and the runner that drives them."""
