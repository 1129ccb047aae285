"""Tournaments in process: specification, schedule, running, results. No transport, no protobuf."""
