-- What a message answers or quotes, and the name of whoever wrote that.
ALTER TABLE inbox ADD COLUMN quoted TEXT NOT NULL DEFAULT '';
ALTER TABLE inbox ADD COLUMN quoted_author TEXT NOT NULL DEFAULT '';
