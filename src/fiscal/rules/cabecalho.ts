/** Rules of the head of `infDPS`. */
import { AMBIENTES } from '../ambiente.ts';
import { municipioInWords } from '../catalogs/catalogs.ts';
import type { Facts } from '../facts.ts';
import type { Dps } from '../layout/dps.ts';
import { municipioHead } from './address.ts';
import { annexHead, type Rule } from './rule.ts';

/** XSD bundle 1.01, edition of 27/07/2026, TSSerieDPS. */
const SERIE_NACIONAL_MAX = 89_999;

/** The day of the signed moment of a DPS of the national door, and never later than today; else today. */
function emissionDay({ dhEmi }: Dps, { hoje }: Facts): string {
  const day = dhEmi?.slice(0, 10) ?? hoje;
  // A moment with the offset of another zone may have the day of tomorrow.
  return day < hoje ? day : hoje;
}

/** The moment of processing is kept in whole seconds. */
const SECOND_MS = 1_000;
/** A document is shared within so many years of its emission. */
const SHARED_YEARS = 6;

function yearsBefore(instant: number, years: number): number {
  const date = new Date(instant);
  return date.setUTCFullYear(date.getUTCFullYear() - years);
}

/** Rules of the moment that a DPS of the national door brings; REST v1 has none. */
const EMISSAO_ASSINADA: readonly Rule[] = [
  {
    ...annexHead('E0008'),
    at: 'dhEmi',
    title: 'A emissão é posterior ao processamento',
    message: ({ dhEmi }, { agora }) =>
      `A DPS diz ter sido emitida em ${dhEmi}, e chegou antes disso: aqui são ${new Date(agora).toISOString()}. Acerte o relógio de quem emite (NTP) e confira o fuso de dhEmi, ou subtraia um minuto, e assine de novo.`,
    mend: 'Acerte o relógio e o fuso de quem emite, ou subtraia um minuto em dhEmi, e assine de novo.',
    why: 'O ambiente nacional recusa uma emissão que está por vir. A regra vale onde dhEmi vem na DPS, que é a porta nacional.',
    when: ({ dhEmi }) => dhEmi !== undefined,
    must: ({ dhEmi }, { agora }) => Date.parse(dhEmi!) < agora + SECOND_MS,
    found: ({ dhEmi }) => dhEmi,
    rejects: [],
    accepts: [],
  },
  {
    ...annexHead('E1294'),
    at: 'dhEmi',
    title: `A emissão tem mais de ${SHARED_YEARS} anos`,
    message: ({ dhEmi }) =>
      `A DPS diz ter sido emitida em ${dhEmi}, há mais de ${SHARED_YEARS} anos, e o ambiente nacional não recebe mais uma nota dela. Envie em dhEmi o instante em que a DPS é assinada.`,
    mend: 'Envie em dhEmi o instante em que a DPS é assinada.',
    why: 'O ambiente nacional não compartilha documento emitido há mais de seis anos.',
    when: ({ dhEmi }) => dhEmi !== undefined,
    must: ({ dhEmi }, { agora }) => Date.parse(dhEmi!) >= yearsBefore(agora, SHARED_YEARS),
    found: ({ dhEmi }) => dhEmi,
    rejects: [],
    accepts: [],
  },
];

export const CABECALHO: readonly Rule[] = [
  {
    code: 'E0006',
    at: 'tpAmb',
    title: 'A DPS diz ser de homologação, e o município está em produção',
    message: ({ tpAmb }) =>
      `A DPS traz tpAmb ${tpAmb} (homologação), e este endereço é o de um município em produção: a nota teria valor fiscal. Se a DPS é um ensaio, envie-a ao ambiente de integração; se é para valer, envie tpAmb 1.`,
    mend: 'Envie o ensaio ao ambiente de integração; para uma nota com valor fiscal, troque tpAmb por 1 e assine de novo.',
    origin: 'Anexo I, E0006; decisões D-62 e D-227',
    why: 'O ambiente é o do endereço. No de integração qualquer tpAmb serve, e a nota sai com 2; em produção um ensaio enviado por engano viraria uma nota com valor fiscal.',
    when: (_dps, { ambiente }) => ambiente === 'producao',
    must: ({ tpAmb }) => tpAmb === '1',
    found: ({ tpAmb }) => tpAmb,
    expected: '1',
    rejects: [],
    accepts: [],
  },
  {
    code: 'E0002',
    at: 'serie',
    scope: 'nacional',
    esquema: true,
    message: ({ serie }) =>
      `A série ${serie} passa de 89999, a última que o esquema nacional tem, e o ADN não recebe uma nota com ela. Use uma série de 00001 a 49999, que é a faixa de quem emite por programa próprio.`,
    origin: 'Especificação, Limits: serie_dps; esquema nacional de 27/07/2026; decisões D-12 e D-192',
    why: 'A especificação aceita qualquer série de até 5 dígitos. A última edição do esquema nacional não tem as séries a partir de 90000: em produção a nota não se transmitiria.',
    found: ({ serie }) => serie,
    expected: 'série até 89999',
    when: ({ serie }) => serie !== undefined,
    must: ({ serie }) => Number(serie) <= SERIE_NACIONAL_MAX,
    rejects: [{ serie: '90000', nDPS: '1' }],
    accepts: [{ serie: '89999', nDPS: '1' }],
  },
  {
    code: 'E002',
    at: 'nDPS',
    message:
      'Este município só emite DPS com número, para que uma repetida seja reconhecida e não vire outra nota. Envie serie e nDPS: numere as suas DPS em sequência, numa série sua, de 1 a 49999.',
    origin: 'Decisão D-215',
    why: 'Uma DPS sem número emite uma nota nova a cada envio, também num reenvio. O município pode exigir o número (`--exigir-numero`).',
    when: (_dps, { exigeNumero }) => exigeNumero,
    must: ({ nDPS }) => nDPS !== undefined,
    expected: 'de 1 a 15 dígitos, sem zeros à esquerda',
    rejects: [],
    accepts: [],
  },
  ...EMISSAO_ASSINADA,
  {
    code: 'E0015',
    at: 'dCompet',
    scope: 'nacional',
    title: 'A competência é posterior à emissão',
    message: (dps, facts) =>
      `A competência ${dps.dCompet} é posterior ao dia da emissão, ${emissionDay(dps, facts)}. Envie em dCompet uma data até esse dia.`,
    mend: 'Em produção envie em dCompet uma data até o dia da emissão.',
    origin: 'Decisão D-62; Anexo I, E0015',
    why: 'A competência é o dia do fato gerador, que não pode estar por vir quando a nota é emitida.',
    when: (_dps, { ambiente }) => ambiente === 'producao',
    must: (dps, facts) => dps.dCompet <= emissionDay(dps, facts),
    found: ({ dCompet }) => dCompet,
    rejects: [],
    accepts: [],
  },
  {
    code: 'E0015',
    at: 'dCompet',
    scope: 'aviso',
    message: (dps, facts) =>
      `A competência ${dps.dCompet} é posterior ao dia da emissão, ${emissionDay(dps, facts)}: aqui serve para ensaiar as datas de obrigação; em produção esta DPS é recusada.`,
    origin: 'Decisão D-62',
    why: 'No ambiente de integração uma competência futura ensaia o dia em que uma obrigação começa, também onde as regras nacionais recusam.',
    when: (_dps, { ambiente }) => ambiente === 'homologacao',
    must: (dps, facts) => dps.dCompet <= emissionDay(dps, facts),
    found: ({ dCompet }) => dCompet,
    rejects: [{ dCompet: '2099-01-01' }],
    accepts: [{ dCompet: '2026-10-05' }],
  },
  {
    ...annexHead('E9996'),
    at: 'tpEmit',
    title: 'Quem emite é o prestador',
    message: ({ tpEmit }) =>
      `tpEmit ${tpEmit} diz que quem emite é o ${tpEmit === '2' ? 'tomador' : 'intermediário'}, e o padrão nacional por ora só aceita nota emitida pelo prestador. Envie tpEmit 1, com o prestador que emite em prest.`,
    mend: 'Envie tpEmit 1, numa DPS do próprio prestador. A emissão pelo tomador ou pelo intermediário está prevista no leiaute e ainda não funciona.',
    why: 'O ambiente nacional recusa, na versão em vigor, a nota emitida pelo tomador ou pelo intermediário.',
    must: ({ tpEmit }) => tpEmit === '1',
    found: ({ tpEmit }) => tpEmit,
    expected: '1',
    rejects: [
      { tpEmit: '2', cMotivoEmisTI: '1', 'serv/infoCompl/docRef': 'Contrato 12/2026' },
      {
        tpEmit: '3',
        cMotivoEmisTI: '2',
        'serv/infoCompl/docRef': 'Contrato 12/2026',
        'valores/vServPrest/vReceb': '1000.00',
      },
    ],
    accepts: [{ tpEmit: '1' }],
  },
  {
    ...annexHead('E0029'),
    at: 'cMotivoEmisTI',
    title: 'Motivo de emissão pelo tomador numa nota do prestador',
    message: ({ cMotivoEmisTI }) =>
      `cMotivoEmisTI ${cMotivoEmisTI} diz por que o tomador ou o intermediário emite, e com tpEmit 1 quem emite é o prestador. Retire cMotivoEmisTI.`,
    mend: 'Retire cMotivoEmisTI.',
    why: 'O motivo só existe quando não é o prestador quem emite.',
    when: ({ tpEmit }) => tpEmit === '1',
    must: ({ cMotivoEmisTI }) => cMotivoEmisTI === undefined,
    found: ({ cMotivoEmisTI }) => cMotivoEmisTI,
    rejects: [{ cMotivoEmisTI: '1' }],
    accepts: [{ cMotivoEmisTI: null }],
  },
  {
    ...municipioHead('em cLocEmi', ({ cLocEmi }: Dps) => cLocEmi),
    at: 'cLocEmi',
    origin: 'Especificação, Errors: E403',
    why: 'O município emissor dá os sete primeiros dígitos da chave de acesso.',
    // A provider that the sandbox does not know yet is answered with E101 before any rule is applied.
    rejects: [],
    accepts: [{ cLocEmi: '2611606' }],
  },
  {
    code: 'E403',
    at: 'cLocEmi',
    message: ({ cLocEmi }, { cMun }) =>
      `cLocEmi é ${municipioInWords(cLocEmi)}, e este endereço emite as notas de ${municipioInWords(cMun ?? '')}. Envie ao endereço do município certo.`,
    origin: 'Especificação, Errors: E403; decisão D-62',
    why: 'Cada município emite as suas próprias notas; só o ambiente de integração aceita qualquer um do catálogo.',
    when: (_dps, { ambiente, cMun }) => AMBIENTES[ambiente].ownMunicipioOnly && cMun !== undefined,
    must: ({ cLocEmi }, { cMun }) => cLocEmi === cMun,
    found: ({ cLocEmi }) => cLocEmi,
    rejects: [],
    accepts: [],
  },
];
