-- The signature that came in the header of a JSON body: with the body's bytes it is the evidence, as an XML has its own
-- inside. Null for an XML, and for a body that came unsigned in the sandbox.
alter table documentos add column recebido_assinatura text;
