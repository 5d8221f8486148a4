/** The smallest documents that are accepted; the tests send them. */
import { exampleXml } from '../../fiscal/rules/example.ts';

/** The smallest DPS: the example of the rules, without every part that a sender may omit. */
export const SMALLEST_DPS = exampleXml({
  '@Id': 'DPS355030821122233300018170000000000000000042',
  verAplic: 'MeuERP-3.2',
  dCompet: '2026-11-20',
  'prest/xNome': null,
  toma: null,
  'serv/cServ/xDescServ': 'Desenvolvimento de sistema',
  'valores/trib/tribMun/pAliq': null,
  'IBSCBS/finNFSe': null,
  'IBSCBS/cIndOp': null,
  'IBSCBS/indDest': null,
});

/** The smallest JSON body, with the same declaration. */
export const SMALLEST_BODY = `{
  "data_competencia": "2026-11-20",
  "municipio_emissor": "3550308",
  "prestador_cpf_cnpj": "11222333000181",
  "prestador_opcao_simples_nacional": "1",
  "municipio_prestacao": "3550308",
  "codigo_tributacao_nacional": "010101",
  "descricao_servico": "Desenvolvimento de sistema",
  "codigo_nbs": "115021000",
  "valor_servico": 1000.00,
  "tributacao_issqn": "1",
  "ibscbs": { "CST": "000", "cClassTrib": "000001" }
}
`;
