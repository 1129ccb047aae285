"""What may keep a server from running well here, looked at before it does."""
