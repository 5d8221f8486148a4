-- A DPS without number is refused: the municipality wants every repetition to be recognised.
alter table municipios add column exige_numero boolean not null default false;
