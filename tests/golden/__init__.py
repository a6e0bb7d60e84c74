"""The golden run: a scripted month through the whole product, recorded so that two versions of it can be compared."""
