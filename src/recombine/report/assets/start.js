// Puts the parts in the page.

showHeader();
showComparison();
showCurves();
showSamples();
showRarity();
showRejected();
showTurnedDown();
showOrigin();
