-- Beside rates the table has percentages that the calculation of the IBS and the CBS takes: the reducer of government purchases, how much of
-- the CBS goes to the buyer, and presumed credits.
alter table aliquotas_ibs_cbs drop constraint aliquotas_ibs_cbs_tributo_check;
alter table aliquotas_ibs_cbs add constraint aliquotas_ibs_cbs_tributo_check check (tributo in (
  'IBS-UF', 'IBS-MUN', 'CBS', 'REDUTOR-COMPRA-GOV', 'TRANSFERENCIA-CBS-GOV',
  'CRED-PRES-01-IBS', 'CRED-PRES-01-CBS', 'CRED-PRES-02-IBS', 'CRED-PRES-02-CBS')) not valid;
-- passo
alter table aliquotas_ibs_cbs validate constraint aliquotas_ibs_cbs_tributo_check;
