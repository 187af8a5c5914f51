"""Queries for collections."""
