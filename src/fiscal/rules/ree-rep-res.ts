/**
 * Rules of the amounts of third parties, `IBSCBS/valores/gReeRepRes`. Check digits of the supplier's CNPJ and CPF are structure (D-12); the
 * existence of a referenced document is not checked.
 */
import { type Decimal, formatDecimal, sum } from '../decimal.ts';
import type { Dps } from '../layout/dps.ts';
import { brazilianDate } from '../moment.ts';
import { municipioHead } from './address.ts';
import { annexHead, forEach, type ItemRule, ofPart, type Patch, type Rule, whenPresent } from './rule.ts';

const LISTA = 'IBSCBS/valores/gReeRepRes/documentos';

type Documento = NonNullable<NonNullable<Dps['IBSCBS']>['valores']['gReeRepRes']>['documentos'][number];

const documentosOf = (dps: Dps): readonly Documento[] | undefined => dps.IBSCBS?.valores.gReeRepRes?.documentos;

const judgeDocumento = (rule: ItemRule<Documento>): Rule => forEach(LISTA, documentosOf, rule);

const totalOf = (dps: Dps): Decimal => sum((documentosOf(dps) ?? []).map(({ vlrReeRepRes }) => vlrReeRepRes));

/** Last competence of a document in a form other than the national ones. */
const OUTRO_FISCAL_ATE = '2025-12-31';

/** Positions of the key of each kind of document that has a fixed length. */
const POSICOES_DA_CHAVE: Readonly<Record<string, { readonly nome: string; readonly posicoes: number }>> = {
  1: { nome: 'NFS-e', posicoes: 50 },
  2: { nome: 'NF-e', posicoes: 44 },
  3: { nome: 'CT-e', posicoes: 44 },
};

/** A key of a kind whose keys have a fixed length. */
function findSizedKey({ dFeNacional }: Documento) {
  const size = dFeNacional && POSICOES_DA_CHAVE[dFeNacional.tipoChaveDFe];
  return size && { ...dFeNacional, ...size };
}

const TIPO_OUTROS = '99';

/** A supplier's document without its own identification; the ISSQN of the rest at 5 % is at least 2 % of the whole. */
const REPASSE: Patch = {
  'valores/trib/tribMun/pAliq': '5.00',
  [`${LISTA}/dtEmiDoc`]: '2026-09-30',
  [`${LISTA}/dtCompDoc`]: '2026-09-30',
  [`${LISTA}/tpReeRepRes`]: '02',
  [`${LISTA}/vlrReeRepRes`]: '100.00',
};

const RECIBO: Patch = {
  ...REPASSE,
  [`${LISTA}/docOutro/nDoc`]: '15',
  [`${LISTA}/docOutro/xDoc`]: 'Recibo de hospedagem',
};

const NOTA_NACIONAL: Patch = {
  ...REPASSE,
  [`${LISTA}/dFeNacional/tipoChaveDFe`]: '1',
  [`${LISTA}/dFeNacional/chaveDFe`]: '35503081211222333000181000000000000126091234567895',
};

const OUTRO_FISCAL: Patch = {
  ...REPASSE,
  [`${LISTA}/docFiscalOutro/cMunDocFiscal`]: '3550308',
  [`${LISTA}/docFiscalOutro/nDocFiscal`]: '321',
  [`${LISTA}/docFiscalOutro/xDocFiscal`]: 'Nota do município',
  [`${LISTA}/dtEmiDoc`]: '2025-12-31',
  [`${LISTA}/dtCompDoc`]: '2025-12-31',
};

export const REE_REP_RES: readonly Rule[] = ofPart(
  (dps) => documentosOf(dps) !== undefined,
  [
    {
      ...annexHead('E1534'),
      at: 'IBSCBS/valores/gReeRepRes',
      title: 'Os valores de terceiros somam o valor do serviço ou mais',
      message: (dps) =>
        `Os documentos de reembolso, repasse e ressarcimento somam ${formatDecimal(totalOf(dps))}, e o valor do serviço é ${formatDecimal(dps.valores.vServPrest.vServ)}: a soma tem de ser menor. Corrija os documentos ou o valor do serviço.`,
      mend: 'Corrija vlrReeRepRes dos documentos, ou inclua em vServ a parte que é do próprio prestador.',
      why: 'O que se reembolsa ou repassa é parte do valor do serviço; a outra parte é do prestador, e não pode ser nada.',
      must: (dps) => totalOf(dps) < dps.valores.vServPrest.vServ,
      found: (dps) => formatDecimal(totalOf(dps)),
      rejects: [{ ...RECIBO, [`${LISTA}/vlrReeRepRes`]: '1000.00' }],
      accepts: [{ ...RECIBO, [`${LISTA}/vlrReeRepRes`]: '400.00' }],
    },
    judgeDocumento(
      whenPresent(findSizedKey, {
        ...annexHead('E0940'),
        at: `${LISTA}/dFeNacional/chaveDFe`,
        title: 'A chave do documento não tem o tamanho do seu tipo',
        message: ({ tipoChaveDFe, chaveDFe, nome, posicoes }) =>
          `A chave tem ${chaveDFe.length} posições, e a de uma ${nome} (tipoChaveDFe ${tipoChaveDFe}) tem ${posicoes}. Copie a chave inteira, sem espaços, ou corrija tipoChaveDFe.`,
        mend: 'Copie a chave inteira do documento, sem espaços nem pontuação, ou corrija tipoChaveDFe.',
        why: 'A chave de acesso de uma NFS-e tem 50 posições, e as de NF-e e CT-e 44; com outro tamanho não identifica documento nenhum.',
        must: ({ chaveDFe, posicoes }) => chaveDFe.length === posicoes,
        found: ({ chaveDFe }) => chaveDFe,
        rejects: [
          { ...NOTA_NACIONAL, [`${LISTA}/dFeNacional/tipoChaveDFe`]: '2' },
          { ...NOTA_NACIONAL, [`${LISTA}/dFeNacional/chaveDFe`]: '3550308121122233300018100000000000012609123456' },
        ],
        accepts: [
          NOTA_NACIONAL,
          {
            ...NOTA_NACIONAL,
            [`${LISTA}/dFeNacional/tipoChaveDFe`]: '3',
            [`${LISTA}/dFeNacional/chaveDFe`]: '35260911222333000181570010000000151123456783',
          },
          {
            ...NOTA_NACIONAL,
            [`${LISTA}/dFeNacional/tipoChaveDFe`]: '9',
            [`${LISTA}/dFeNacional/xTipoChaveDFe`]: 'Bilhete de passagem',
            [`${LISTA}/dFeNacional/chaveDFe`]: '123',
          },
        ],
      }),
    ),
    judgeDocumento({
      ...annexHead('E0942'),
      at: `${LISTA}/docFiscalOutro`,
      title: 'Documento fiscal de outra forma, de competência posterior a 2025',
      message: ({ dtCompDoc }) =>
        `O documento é de ${brazilianDate(dtCompDoc)}, e docFiscalOutro só serve a documentos de competência até ${brazilianDate(OUTRO_FISCAL_ATE)}. Informe em dFeNacional a chave do documento, ou em docOutro o documento que não é fiscal.`,
      mend: 'Para documentos de 2026 em diante informe dFeNacional, com a chave; docFiscalOutro fica para os mais antigos.',
      why: 'Desde 2026 os documentos fiscais estão todos nos repositórios nacionais e têm chave.',
      when: ({ docFiscalOutro }) => docFiscalOutro !== undefined,
      must: ({ dtCompDoc }) => dtCompDoc <= OUTRO_FISCAL_ATE,
      found: ({ dtCompDoc }) => dtCompDoc,
      expected: `dtCompDoc até ${OUTRO_FISCAL_ATE}`,
      rejects: [{ ...OUTRO_FISCAL, [`${LISTA}/dtEmiDoc`]: '2026-01-01', [`${LISTA}/dtCompDoc`]: '2026-01-01' }],
      accepts: [OUTRO_FISCAL],
    }),
    judgeDocumento({
      ...municipioHead('em cMunDocFiscal', ({ docFiscalOutro }: Documento) => docFiscalOutro?.cMunDocFiscal),
      at: `${LISTA}/docFiscalOutro/cMunDocFiscal`,
      origin: 'Especificação, Errors: E403; Anexo I, E0943',
      why: 'O número de um documento fiscal municipal só o identifica junto com o município que o emitiu.',
      rejects: [{ ...OUTRO_FISCAL, [`${LISTA}/docFiscalOutro/cMunDocFiscal`]: '3550309' }],
      accepts: [{ ...OUTRO_FISCAL, [`${LISTA}/docFiscalOutro/cMunDocFiscal`]: '3304557' }],
    }),
    judgeDocumento({
      code: 'E0950',
      at: `${LISTA}/dtEmiDoc`,
      scope: 'nacional',
      title: 'Documento emitido antes da sua competência',
      message: ({ dtEmiDoc, dtCompDoc }) =>
        `A emissão do documento, ${brazilianDate(dtEmiDoc)}, é anterior à competência dele, ${brazilianDate(dtCompDoc)}. Corrija dtEmiDoc ou dtCompDoc.`,
      mend: 'Corrija as datas: dtEmiDoc é igual ou posterior a dtCompDoc.',
      origin: 'Anexo I, E0950 e E0951',
      why: 'A competência de um documento é o dia do fato, e o documento é emitido nesse dia ou depois. O E0951 nacional diz o mesmo de dtCompDoc e não é enviado à parte.',
      must: ({ dtEmiDoc, dtCompDoc }) => dtCompDoc <= dtEmiDoc,
      found: ({ dtEmiDoc }) => dtEmiDoc,
      rejects: [{ ...RECIBO, [`${LISTA}/dtEmiDoc`]: '2026-09-29' }],
      accepts: [{ ...RECIBO, [`${LISTA}/dtCompDoc`]: '2026-08-31' }],
    }),
    judgeDocumento({
      ...annexHead('E0952'),
      at: `${LISTA}/xTpReeRepRes`,
      title: 'Descrição do tipo de reembolso num tipo que já tem nome',
      message: ({ tpReeRepRes }) =>
        `xTpReeRepRes descreve o tipo ${TIPO_OUTROS}, e o tipo informado é ${tpReeRepRes}. Retire xTpReeRepRes, ou envie tpReeRepRes ${TIPO_OUTROS}.`,
      mend: 'Retire xTpReeRepRes, ou envie tpReeRepRes 99.',
      why: 'Só o tipo 99 (outros) se descreve por palavras; os demais já dizem o que são.',
      when: ({ xTpReeRepRes }) => xTpReeRepRes !== undefined,
      must: ({ tpReeRepRes }) => tpReeRepRes === TIPO_OUTROS,
      found: ({ tpReeRepRes }) => tpReeRepRes,
      expected: TIPO_OUTROS,
      rejects: [{ ...RECIBO, [`${LISTA}/xTpReeRepRes`]: 'Hospedagem' }],
      accepts: [{ ...RECIBO, [`${LISTA}/tpReeRepRes`]: '99', [`${LISTA}/xTpReeRepRes`]: 'Hospedagem' }],
    }),
    judgeDocumento({
      code: 'E0953',
      at: `${LISTA}/vlrReeRepRes`,
      title: 'Documento de terceiro maior que o valor do serviço',
      message: ({ vlrReeRepRes }, { valores }) =>
        `O documento tem ${formatDecimal(vlrReeRepRes)}, e o valor do serviço é ${formatDecimal(valores.vServPrest.vServ)}: o que se reembolsa ou repassa não passa dele. Corrija vlrReeRepRes ou vServ.`,
      mend: 'Corrija vlrReeRepRes, no máximo igual a vServ; se o documento é maior, informe só a parte que está nesta nota.',
      origin: 'Anexo I, E0953',
      why: 'O que se reembolsa ou repassa é parte do valor do serviço. Acima dele a base de cálculo seria negativa, e por isso a regra recusa em todo ambiente.',
      must: ({ vlrReeRepRes }, { valores }) => vlrReeRepRes <= valores.vServPrest.vServ,
      found: ({ vlrReeRepRes }) => formatDecimal(vlrReeRepRes),
      rejects: [{ ...RECIBO, [`${LISTA}/vlrReeRepRes`]: '1000.01' }],
      also: ['E1534'],
      accepts: [RECIBO],
    }),
  ],
);
