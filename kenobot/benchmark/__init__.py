"""How good recall is, measured on data through the product's own doors: `kenobot bench recall` and `bench lifecycle`."""
