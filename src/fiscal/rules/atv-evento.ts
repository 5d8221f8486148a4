/** Rules of the event activity, `serv/atvEvento`. The presence of a code or an address is structure. */
import { servicoOf } from '../catalogs/catalogs.ts';
import { brazilianDate } from '../moment.ts';
import { addressInLisboa } from './address.ts';
import { cepOfPlace } from './cep.ts';
import { PRESTADO_FORA, PRESTADO_SEM_ISSQN, SEM_ISSQN } from './obra.ts';
import { annexHead, ofPart, type Patch, type Rule, whenPresent } from './rule.ts';

const EVENTO: Patch = {
  'serv/atvEvento/xNome': 'Festival de Inverno',
  'serv/atvEvento/dtIni': '2026-10-03',
  'serv/atvEvento/dtFim': '2026-10-05',
};

const POR_CODIGO: Patch = { ...EVENTO, 'serv/atvEvento/idAtvEvt': 'EVT-2026-0042' };

const NO_BRASIL: Patch = {
  ...EVENTO,
  'serv/atvEvento/end/CEP': '01001000',
  'serv/atvEvento/end/xLgr': 'Praça da Sé',
  'serv/atvEvento/end/nro': '1',
  'serv/atvEvento/end/xBairro': 'Sé',
};

const NO_EXTERIOR: Patch = {
  ...EVENTO,
  ...addressInLisboa('serv/atvEvento/end'),
};

const SHOW: Patch = { 'serv/cServ/cTribNac': '120701' };

export const ATV_EVENTO: readonly Rule[] = [
  {
    code: 'E0390',
    at: 'serv/atvEvento',
    title: 'Falta o grupo da atividade de evento',
    mend: 'Inclua serv/atvEvento com xNome, dtIni, dtFim e idAtvEvt ou end.',
    message: ({ serv }) =>
      `O serviço ${serv.cServ.cTribNac} é do item 12 e exige o grupo serv/atvEvento, que falta. Inclua-o com xNome, dtIni, dtFim e, para identificar o evento, idAtvEvt ou end.`,
    origin: 'Especificação, DPS: serv/atvEvento; Errors: E0390; Anexo I, E0390',
    why: 'Nos serviços de diversões, lazer e entretenimento (item 12) o grupo serv/atvEvento diz que evento foi, quando e onde.',
    when: ({ serv }) => servicoOf(serv.cServ.cTribNac)?.grupoObrigatorio === 'atvEvento',
    must: ({ serv }) => serv.atvEvento !== undefined,
    expected: 'grupo atvEvento com xNome, dtIni, dtFim e idAtvEvt ou end',
    rejects: [SHOW, { 'serv/cServ/cTribNac': '121701' }],
    accepts: [
      { ...SHOW, ...POR_CODIGO },
      { ...SHOW, ...NO_BRASIL },
    ],
  },
  ...ofPart(
    ({ serv }) => serv.atvEvento !== undefined,
    [
      {
        code: 'E0392',
        at: 'serv/atvEvento',
        title: 'Grupo de evento num serviço que não é do item 12',
        mend: 'Retire serv/atvEvento, ou corrija o cTribNac.',
        message: ({ serv }) =>
          `O serviço ${serv.cServ.cTribNac} não é do item 12, e a DPS traz o grupo serv/atvEvento. Retire o grupo, ou corrija o cTribNac.`,
        origin: 'Especificação, DPS: serv/atvEvento; Errors: E0392; Anexo I, E0392',
        why: 'O grupo serv/atvEvento só cabe nos serviços do item 12, que o exigem, e no 99.01.01, que o pode trazer.',
        when: ({ serv }) => servicoOf(serv.cServ.cTribNac)?.emissivel === true,
        must: ({ serv: { cServ } }) =>
          servicoOf(cServ.cTribNac)?.grupoObrigatorio === 'atvEvento' || cServ.cTribNac === SEM_ISSQN,
        found: ({ serv }) => serv.cServ.cTribNac,
        expected: 'DPS sem o grupo atvEvento',
        rejects: [POR_CODIGO],
        accepts: [{ ...PRESTADO_SEM_ISSQN, ...POR_CODIGO }],
      },
      whenPresent(({ serv }) => serv.atvEvento, {
        code: 'E0002',
        at: 'serv/atvEvento/dtFim',
        scope: 'aviso',
        message: ({ dtIni, dtFim }) =>
          `O evento termina em ${brazilianDate(dtFim)} (dtFim), antes de começar, em ${brazilianDate(dtIni)} (dtIni). A nota é emitida com essas datas; confira se estão trocadas.`,
        origin: 'Especificação, DPS: serv/atvEvento',
        why: 'Um evento não termina antes de começar. Nem a especificação nem o padrão nacional o recusam: a nota é emitida, com um aviso.',
        must: ({ dtIni, dtFim }) => dtIni <= dtFim,
        rejects: [{ ...SHOW, ...POR_CODIGO, 'serv/atvEvento/dtFim': '2026-10-02' }],
        accepts: [{ ...SHOW, ...POR_CODIGO, 'serv/atvEvento/dtFim': '2026-10-03' }],
      }),
      {
        ...annexHead('E0398'),
        at: 'serv/atvEvento/end/CEP',
        title: 'Evento no Brasil sem o CEP',
        mend: 'Informe o CEP do evento em lugar de endExt, ou o país da prestação em lugar do município.',
        message: ({ serv }) =>
          `O serviço foi prestado no Brasil (cLocPrestacao ${serv.locPrest.cLocPrestacao}), e o endereço do evento vem sem CEP. Informe o CEP do lugar.`,
        why: 'Um evento que tem endereço e se deu num município do Brasil tem CEP.',
        when: ({ serv }) => serv.atvEvento?.end !== undefined && serv.locPrest.cLocPrestacao !== undefined,
        must: ({ serv }) => serv.atvEvento?.end?.CEP !== undefined,
        expected: 'CEP de 8 dígitos, sem hífen',
        also: ['E0404'],
        rejects: [{ ...SHOW, ...NO_EXTERIOR }],
        accepts: [{ ...SHOW, ...NO_BRASIL }],
        national:
          'O padrão nacional confere também se o CEP é do município da prestação; aqui se conferem só os estados, com um aviso.',
      },
      cepOfPlace(
        { code: 'E0398', at: 'serv/atvEvento/end/CEP', whose: 'do evento', accepts: { ...SHOW, ...NO_BRASIL } },
        ({ serv }) => serv.atvEvento?.end?.CEP,
      ),
      {
        ...annexHead('E0400'),
        at: 'serv/atvEvento/end/CEP',
        title: 'Evento no exterior com CEP',
        mend: 'Retire o CEP e informe endExt, ou troque o país da prestação pelo município.',
        message: ({ serv }) =>
          `O serviço foi prestado no exterior (cPaisPrestacao ${serv.locPrest.cPaisPrestacao}), e o endereço do evento traz um CEP. Retire o CEP e informe endExt.`,
        why: 'Um evento no exterior não tem CEP.',
        when: ({ serv }) => serv.atvEvento?.end !== undefined && serv.locPrest.cPaisPrestacao !== undefined,
        must: ({ serv }) => serv.atvEvento?.end?.CEP === undefined,
        found: ({ serv }) => serv.atvEvento?.end?.CEP,
        expected: 'endereço com endExt, sem CEP',
        also: ['E0402'],
        rejects: [{ ...SHOW, ...PRESTADO_FORA, ...NO_BRASIL }],
        accepts: [{ ...SHOW, ...PRESTADO_FORA, ...NO_EXTERIOR }],
      },
      {
        ...annexHead('E0402'),
        at: 'serv/atvEvento/end/endExt',
        title: 'Evento no exterior sem o endereço no exterior',
        mend: 'Informe endExt no endereço do evento, ou troque o país da prestação pelo município.',
        message: ({ serv }) =>
          `O serviço foi prestado no exterior (cPaisPrestacao ${serv.locPrest.cPaisPrestacao}), e o endereço do evento não traz endExt. Informe cEndPost, xCidade e xEstProvReg do lugar.`,
        why: 'Um evento que tem endereço e se deu em outro país tem o endereço de lá.',
        when: ({ serv }) => serv.atvEvento?.end !== undefined && serv.locPrest.cPaisPrestacao !== undefined,
        must: ({ serv }) => serv.atvEvento?.end?.endExt !== undefined,
        expected: 'serv/atvEvento/end com endExt',
        also: ['E0400'],
        rejects: [{ ...SHOW, ...PRESTADO_FORA, ...NO_BRASIL }],
        accepts: [{ ...SHOW, ...PRESTADO_FORA, ...POR_CODIGO }],
      },
      {
        ...annexHead('E0404'),
        at: 'serv/atvEvento/end/endExt',
        title: 'Evento no Brasil com endereço no exterior',
        mend: 'Troque endExt pelo CEP do evento, ou informe o país da prestação em lugar do município.',
        message: ({ serv }) =>
          `O serviço foi prestado no Brasil (cLocPrestacao ${serv.locPrest.cLocPrestacao}), e o endereço do evento é no exterior. Troque endExt pelo CEP do lugar.`,
        why: 'Um evento que se deu num município do Brasil não tem endereço em outro país.',
        when: ({ serv }) => serv.atvEvento?.end?.endExt !== undefined,
        must: ({ serv }) => serv.locPrest.cLocPrestacao === undefined,
        expected: 'serv/atvEvento/end com CEP',
        also: ['E0398'],
        rejects: [{ ...SHOW, ...NO_EXTERIOR }],
        accepts: [{ ...SHOW, ...NO_BRASIL }],
      },
    ],
  ),
];
