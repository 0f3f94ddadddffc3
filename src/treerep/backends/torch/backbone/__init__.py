"""Backbone trees on a device."""
