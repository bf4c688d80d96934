-- What the prompt of a call was made of, for the estimates of later ones: signs by kind, as a JSON array. Empty where it is not known.
ALTER TABLE call ADD COLUMN signs TEXT NOT NULL DEFAULT '';
