-- How much an address of the network and a provider may send (0: no limit), and how long a rehearsal keeps what it stores, in days
-- (0: for ever). Null: as in the ambiente.
alter table municipios
  add column limite_endereco integer check (limite_endereco >= 0),
  add column limite_prestador integer check (limite_prestador >= 0),
  add column guarda_dias integer check (guarda_dias >= 0);
