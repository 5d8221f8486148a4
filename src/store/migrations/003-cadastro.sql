-- What a production municipality has set. Files are named by their absolute paths; keys and passwords are never here.
alter table municipios
  -- ISS rate of every service while the municipality has no service list of its own.
  add column aliquota_padrao numeric(5, 2) check (aliquota_padrao between 0 and 100),
  -- Directory of trust anchors; null: the national roots that come with the program.
  add column ancoras text,
  -- Directory of revocation lists.
  add column revogados text,
  add column adn_url text,
  -- Who signs the ADN's own certificate; null: whoever the operating system trusts.
  add column adn_ca text,
  add column adn_certificado text,
  add column adn_chave text,
  add column adn_pfx text,
  add column adn_senha_arquivo text,
  -- An address comes with one pair of files, and no pair without an address. A key in PEM may have no password.
  add constraint municipios_adn check (
    num_nonnulls(adn_url, adn_certificado, adn_chave, adn_pfx, adn_senha_arquivo) = 0 and adn_ca is null
    or adn_url is not null and num_nonnulls(adn_certificado, adn_chave) = 2 and adn_pfx is null
    or adn_url is not null and num_nonnulls(adn_certificado, adn_chave) = 0 and num_nonnulls(adn_pfx, adn_senha_arquivo) = 2
  );

-- One municipal registration is one establishment however it is written: without punctuation and leading zeros.
alter table prestadores
  add column inscricao_comparavel text not null generated always as (
    regexp_replace(regexp_replace(inscricao_municipal, '[^0-9A-Za-z]', '', 'g'), '^0+(?=.)', '')
  ) stored;

delete from prestadores one using prestadores other
where one.tenant = other.tenant and one.documento = other.documento
  and one.inscricao_comparavel = other.inscricao_comparavel and one.inscricao_municipal > other.inscricao_municipal;

alter table prestadores
  drop constraint prestadores_pkey,
  add primary key (tenant, documento, inscricao_comparavel);

-- When a provider was in the Simples Nacional; whoever writes sees that the periods of one do not overlap.
create table simples_nacional (
  tenant text not null references municipios,
  documento text not null check (length(documento) in (11, 14)),
  inicio date not null,
  fim date check (fim >= inicio),
  primary key (tenant, documento, inicio)
);

-- A DPS names a national code more often than a municipal one.
create index servicos_municipais_nacional on servicos_municipais (tenant, codigo_tributacao_nacional);

-- See 002: without statistics of the tenant the longest key always wins.
alter table simples_nacional alter column tenant set statistics 0;
alter table servicos_municipais alter column tenant set statistics 0;
