-- The CPF of the agent of the tax administration that the forms of acts by office propose to the owner of the account.
alter table contas add column cpf_agente text constraint contas_cpf_agente check (cpf_agente ~ '^[0-9]{11}$');
