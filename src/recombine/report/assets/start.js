// Puts the parts in the page.

showHeader();
showComparison();
showCurves();
showAlignment();
showSamples();
showRarity();
showRejected();
showTurnedDown();
showOrigin();
