"""The words on the wire, after the Agent Client Protocol, and the fold from events to them."""
