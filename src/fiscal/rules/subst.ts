/**
 * Rules of the replaced note, `subst`, as far as the document tells. Whether that note exists, and whether it may still
 * be replaced, is not asked here.
 */
import { parseChave } from '../chave.ts';
import type { Dps } from '../layout/dps.ts';
import type { Patch, Rule } from './rule.ts';

/** Note 1 of September 2026 of the provider of the example, in the municipality of the example. */
const CHAVE = '35503081211222333000181000000000000126091234567895';

const SUBSTITUICAO: Patch = {
  'subst/chSubstda': CHAVE,
  'subst/cMotivo': '99',
  'subst/xMotivo': 'Descrição do serviço incorreta',
};

export const SUBST: readonly Rule[] = [
  {
    code: 'E0042',
    at: 'subst/chSubstda',
    scope: 'nacional',
    title: 'A chave da nota substituída não é de uma nota deste prestador',
    message: (dps) => `${problemOf(dps)} Copie a chave inteira da nota a substituir, de 50 posições.`,
    mend: 'Copie a chave da nota a substituir como está nela. Uma nota só substitui outra do mesmo prestador, emitida pelo mesmo município.',
    origin: 'Anexo I, E0042',
    why: 'A chave traz o município e o prestador da nota, que são os mesmos na substituta, e um dígito que denuncia o erro de cópia.',
    when: ({ subst }) => subst !== undefined,
    must: (dps) => problemOf(dps) === undefined,
    found: ({ subst }) => subst?.chSubstda,
    expected: 'chave de uma NFS-e do mesmo município e do mesmo prestador, com o dígito verificador certo',
    rejects: [
      { ...SUBSTITUICAO, 'subst/chSubstda': `${CHAVE.slice(0, 49)}6` },
      { ...SUBSTITUICAO, 'subst/chSubstda': '33045571211222333000181000000000000126091234567892' },
      { ...SUBSTITUICAO, 'subst/chSubstda': '35503081211444777000161000000000000126091234567899' },
      { ...SUBSTITUICAO, 'subst/chSubstda': '35503081100052998224725000000000000126091234567895' },
    ],
    accepts: [
      SUBSTITUICAO,
      {
        ...SUBSTITUICAO,
        'prest/CNPJ': null,
        'prest/CPF': '52998224725',
        'subst/chSubstda': '35503081100052998224725000000000000126091234567895',
      },
    ],
  },
  {
    code: 'E0078',
    at: 'subst/xMotivo',
    scope: 'nacional',
    title: 'Substituição por outro motivo, sem dizer qual',
    message: 'Com cMotivo 99 (outros) é preciso descrever o motivo em subst/xMotivo, com 15 a 255 caracteres.',
    mend: 'Descreva o motivo em subst/xMotivo, com 15 a 255 caracteres, ou use em cMotivo um código de 01 a 05.',
    origin: 'Anexo I, E0078',
    why: 'O código 99 só diz que o motivo não é dos outros.',
    when: ({ subst }) => subst?.cMotivo === '99',
    must: ({ subst }) => subst?.xMotivo !== undefined,
    expected: 'texto de 15 a 255 caracteres',
    rejects: [{ ...SUBSTITUICAO, 'subst/xMotivo': null }],
    accepts: [{ 'subst/chSubstda': CHAVE, 'subst/cMotivo': '01' }],
  },
];

/** What is wrong with the key of the replaced note, as a sentence. */
function problemOf({ subst, cLocEmi, prest }: Dps): string | undefined {
  const chave = parseChave(subst!.chSubstda);
  if (chave === undefined) {
    return `A chave ${subst!.chSubstda}, em subst/chSubstda, não é a de uma NFS-e: o dígito verificador ou outra parte não confere.`;
  }
  if (chave.cMun !== cLocEmi) {
    return `A chave em subst/chSubstda é de uma nota do município ${chave.cMun}, e esta DPS é do município ${cLocEmi}.`;
  }
  const documento = prest.CNPJ ?? prest.CPF;
  return documento === undefined || chave.documento === documento
    ? undefined
    : 'A chave em subst/chSubstda é de uma nota de outro prestador.';
}
