-- How documents are packed for the ADN. Null: as usual.
alter table municipios add column adn_compressao text check (adn_compressao in ('usual', 'nenhuma'));
