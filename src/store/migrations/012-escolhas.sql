-- What the specification lets a municipality choose; null: what its ambiente does.
alter table municipios
  -- Whether a national rule that the specification does not name refuses, or is a remark (D-86).
  add column regras_nacionais text check (regras_nacionais in ('recusa', 'avisa')),
  -- Who may read a note by the identifier of its DPS: anybody, or a party with its certificate (D-41).
  add column consulta_dps text check (consulta_dps in ('publica', 'parte'));
