-- Three definitions were changed in their files when databases had them already: 001, 003 and 040, on the days in which they were
-- written. Said once more, so that all databases have the same.
alter table documentos alter recebido set storage external, alter nfse set storage external;

-- passo
alter table municipios drop constraint municipios_adn;
alter table municipios add constraint municipios_adn check (
  num_nonnulls(adn_url, adn_certificado, adn_chave, adn_pfx, adn_senha_arquivo) = 0 and adn_ca is null
  or adn_url is not null and num_nonnulls(adn_certificado, adn_chave) = 2 and adn_pfx is null
  or adn_url is not null and num_nonnulls(adn_certificado, adn_chave) = 0 and num_nonnulls(adn_pfx, adn_senha_arquivo) = 2
);

-- passo
alter table lotes drop constraint lotes_due;
alter table lotes add constraint lotes_due check (
  case situacao when 2 then due_at is not null when 3 then due_at is null else true end and (situacao = 3) = (mensagens is not null)
) not valid;

-- passo
alter table lotes validate constraint lotes_due;
