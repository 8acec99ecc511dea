"""Figures: ratios, CPU seconds and memory; printed, never asserted."""
