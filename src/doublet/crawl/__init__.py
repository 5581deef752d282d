"""Documents over the network, politely: `fetch` gets one address, `robots` and `addresses` say which ones may be."""
