"""Does augmentation help on these data? Methods, trained as one population, on what is rare and on the rest."""
