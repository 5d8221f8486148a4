/** Rules of the head of `infDPS`. */
import { municipioOf } from '../catalogs/catalogs.ts';
import type { Rule } from './rule.ts';

export const CABECALHO: readonly Rule[] = [
  {
    code: 'E403',
    at: 'cLocEmi',
    message: ({ cLocEmi }) =>
      `O código IBGE ${cLocEmi}, em cLocEmi, não é de nenhum município. Consulte o catálogo de municípios.`,
    origin: 'Especificação, Errors: E403',
    why: 'O município emissor dá os sete primeiros algarismos da chave de acesso.',
    must: ({ cLocEmi }) => municipioOf(cLocEmi) !== undefined,
    found: ({ cLocEmi }) => cLocEmi,
    expected: 'código IBGE de um município do catálogo',
    // A provider that the sandbox does not know yet is answered E101 before any rule is asked.
    rejects: [],
    accepts: [{ cLocEmi: '2611606' }],
  },
  {
    code: 'E403',
    at: 'cLocEmi',
    message: ({ cLocEmi }, { cMun }) =>
      `cLocEmi é ${named(cLocEmi)}, e este endereço emite as notas de ${named(cMun ?? '')}. Envie ao endereço do município certo.`,
    origin: 'Especificação, Errors: E403; decisão D-87',
    why: 'Cada município emite as suas próprias notas; só o ambiente de integração aceita qualquer um do catálogo.',
    when: (_dps, { cMun }) => cMun !== undefined,
    must: ({ cLocEmi }, { cMun }) => cLocEmi === cMun,
    found: ({ cLocEmi }) => cLocEmi,
    rejects: [],
    accepts: [],
  },
];

function named(codigo: string): string {
  const municipio = municipioOf(codigo);
  return municipio === undefined ? codigo : `${codigo} (${municipio.nome}/${municipio.uf})`;
}
