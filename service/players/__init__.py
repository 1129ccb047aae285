"""Players that programs elsewhere offer: who is there, asking them, and what becomes of faults."""
