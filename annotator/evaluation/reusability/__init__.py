"""Whether a collection's judgements are enough: what they miss, whom they favour, what fewer would be worth."""
