/** Personas whose DPS has a group that others do not: the work, the event, foreign trade, the benefit. */
import type { Patch } from '../rules/rule.ts';
import {
  CANCELAMENTO,
  type Cenario,
  emitidaPor,
  ibsCbs,
  iss,
  MUNICIPIO_DAS_PERSONAS,
  type Persona,
  prestador,
  SEM_ALIQUOTA,
  SEM_TOMADOR,
  servico,
  TOMADORA,
  valor,
} from './persona.ts';

type Dito = Omit<Cenario, 'avisos'>;

const construtora = prestador({
  documento: '99001010000109',
  razao_social: 'Construtora Fictícia Ltda',
  inscricao_municipal: '91010',
  numero: '1010',
});

function daConstrutora(cenario: Dito): Cenario {
  const dps: Patch = {
    ...emitidaPor(construtora),
    ...servico('070202', '101011100', 'Construção de casa por empreitada'),
    ...iss('5.00'),
    ...TOMADORA,
    ...ibsCbs('020201', '200046'),
    ...cenario.dps,
  };
  return { ...cenario, dps, avisos: [] };
}

const OBRA_NO_ENDERECO: Patch = {
  'serv/obra/end/CEP': '01001000',
  'serv/obra/end/xLgr': 'Rua da Obra Fictícia',
  'serv/obra/end/nro': '10',
  'serv/obra/end/xBairro': 'Sé',
};

const MATERIAL = 'valores/vDedRed/documentos/docDedRed';

/** Materials of a supplier. */
const MATERIAIS: Patch = {
  [`${MATERIAL}/nDocFisc`]: 'NF 4521',
  [`${MATERIAL}/tpDedRed`]: '2',
  [`${MATERIAL}/vDedutivelRedutivel`]: '20000.00',
  [`${MATERIAL}/vDeducaoReducao`]: '20000.00',
  [`${MATERIAL}/fornec/CNPJ`]: '99002020000169',
  [`${MATERIAL}/fornec/xNome`]: 'Materiais Fictícios Ltda',
  [`${MATERIAL}/fornec/end/endNac/cMun`]: MUNICIPIO_DAS_PERSONAS,
  [`${MATERIAL}/fornec/end/endNac/CEP`]: '01001000',
  [`${MATERIAL}/fornec/end/xLgr`]: 'Rua dos Ensaios',
  [`${MATERIAL}/fornec/end/nro`]: '2020',
  [`${MATERIAL}/fornec/end/xBairro`]: 'Sé',
};

const OBRA: Persona = {
  id: 'obra',
  titulo: 'Construção civil, com o grupo da obra',
  historia:
    'Construtora que faz casas por empreitada. O serviço 07.02.02 exige serv/obra, com uma só identificação: cObra com inscImobFisc, cCIB, ou o endereço. O ISSQN é do município da obra, e o IBS e a CBS sobre imóveis são reduzidos em 50%.',
  prestador: construtora,
  cadastros: {},
  cenarios: [
    daConstrutora({
      id: 'cno',
      titulo: 'Obra com o número do cadastro nacional',
      explica:
        'A obra se identifica por cObra e inscImobFisc. De 50.000,00 a 5% o tomador retém 2.500,00, e 5.500,00 de INSS: o líquido é 42.000,00.',
      dps: {
        ...valor('50000.00'),
        ...iss('5.00', 'tomador'),
        'valores/trib/tribFed/vRetCP': '5500.00',
        'serv/obra/cObra': '900012345678',
        'serv/obra/inscImobFisc': '001.002.0003-4',
      },
    }),
    daConstrutora({
      id: 'materiais',
      titulo: 'Materiais deduzidos por documento',
      explica:
        'Dos 50.000,00 deduzem-se 20.000,00 de materiais, pela nota do fornecedor. A base é 30.000,00, e o ISSQN a 5% é 1.500,00; o líquido segue 50.000,00.',
      dps: { ...valor('50000.00'), ...OBRA_NO_ENDERECO, ...MATERIAIS },
      dias: { [`${MATERIAL}/dtEmiDoc`]: -20 },
    }),
    daConstrutora({
      id: 'pessoa-fisica',
      titulo: 'Reforma para uma pessoa, obra pelo CIB',
      explica: 'A obra se identifica pelo cCIB, de 8 dígitos. De 12.000,00 a 5% são 600,00 de ISSQN.',
      dps: {
        ...valor('12000.00'),
        'toma/CNPJ': null,
        'toma/CPF': '52998224725',
        'toma/xNome': 'Maria Exemplo',
        'serv/obra/cCIB': '12345678',
      },
    }),
  ],
};

const producao = prestador({
  documento: '99003030000119',
  razao_social: 'Produções Fictícias Ltda',
  inscricao_municipal: '93030',
  numero: '3030',
});

function daProducao(cenario: Dito): Cenario {
  const dps: Patch = {
    ...emitidaPor(producao),
    ...servico('120701', '125022000', 'Apresentação musical ao vivo'),
    'serv/atvEvento/xNome': 'Festival Fictício de Música',
    ...iss('5.00'),
    ...ibsCbs('040101', '200039'),
    ...cenario.dps,
  };
  const dias = { 'serv/atvEvento/dtIni': -2, 'serv/atvEvento/dtFim': 0 };
  return { ...cenario, dps, dias, avisos: [] };
}

const NA_PRACA: Patch = {
  'serv/atvEvento/end/CEP': '01001000',
  'serv/atvEvento/end/xLgr': 'Praça da Sé',
  'serv/atvEvento/end/nro': '1',
  'serv/atvEvento/end/xBairro': 'Sé',
};

const EVENTO: Persona = {
  id: 'evento',
  titulo: 'Produtora de eventos culturais',
  historia:
    'Produtora de shows, do item 12 da lista, que exige serv/atvEvento com nome, datas e um código ou o endereço do evento. O ISSQN é do município em que o evento se dá, e a produção nacional tem o IBS e a CBS reduzidos em 60%.',
  prestador: producao,
  cadastros: {},
  cenarios: [
    daProducao({
      id: 'no-endereco',
      titulo: 'Show contratado por uma empresa',
      explica:
        'O evento se identifica pelo endereço. De 20.000,00 a 5% o tomador retém 1.000,00, e o líquido é 19.000,00.',
      dps: { ...TOMADORA, ...NA_PRACA, ...valor('20000.00'), ...iss('5.00', 'tomador') },
    }),
    daProducao({
      id: 'pelo-codigo',
      titulo: 'Bilheteria, sem tomador',
      explica:
        'O evento se identifica pelo código que o município lhe deu, e a venda de ingressos, 3.000,00, não tem tomador.',
      dps: { ...SEM_TOMADOR, ...valor('3000.00'), 'serv/atvEvento/idAtvEvt': 'EVT-FICTICIO-0042' },
    }),
    daProducao({
      id: 'cancelada',
      titulo: 'Apresentação que não aconteceu',
      explica: 'A nota de 2.500,00, de um tomador com CPF, é cancelada por evento.',
      dps: { ...NA_PRACA, ...valor('2500.00') },
      evento: CANCELAMENTO,
    }),
  ],
};

const consultoria = prestador({
  documento: '99004040000179',
  razao_social: 'Exportadora Fictícia de Software Ltda',
  inscricao_municipal: '94040',
  numero: '4040',
});

function daExportadora(cenario: Dito): Cenario {
  const dps: Patch = {
    ...emitidaPor(consultoria),
    ...servico('010101', '115022000', 'Desenvolvimento de sistema para cliente no exterior'),
    'valores/trib/tribMun/tribISSQN': '3',
    ...SEM_ALIQUOTA,
    ...NO_EXTERIOR,
    ...ibsCbs('100302', '410004'),
    ...cenario.dps,
  };
  return { ...cenario, dps, avisos: [] };
}

/** A taker abroad, and the group of foreign trade that goes with it. Dollars are 220 at the central bank. */
const NO_EXTERIOR: Patch = {
  'toma/CPF': null,
  'toma/NIF': 'US-123456789',
  'toma/xNome': 'Fictitious Client Inc',
  'toma/end/endExt/cPais': 'US',
  'toma/end/endExt/cEndPost': '10001',
  'toma/end/endExt/xCidade': 'New York',
  'toma/end/endExt/xEstProvReg': 'NY',
  'toma/end/xLgr': 'Fictitious Avenue',
  'toma/end/nro': '350',
  'toma/end/xBairro': 'Manhattan',
  'serv/comExt/mdPrestacao': '1',
  'serv/comExt/vincPrest': '6',
  'serv/comExt/tpMoeda': '220',
  'serv/comExt/vServMoeda': '2000.00',
  'serv/comExt/mecAFComexP': '01',
  'serv/comExt/mecAFComexT': '01',
  'serv/comExt/movTempBens': '1',
  'serv/comExt/mdic': '0',
};

const EM_DUBAI: Patch = {
  'toma/NIF': null,
  'toma/cNaoNIF': '2',
  'toma/end/endExt/cPais': 'AE',
  'toma/end/endExt/cEndPost': '00000',
  'toma/end/endExt/xCidade': 'Dubai',
  'toma/end/endExt/xEstProvReg': 'Dubai',
  'toma/end/xLgr': 'Fictitious Road',
  'toma/end/xBairro': 'Deira',
  'serv/comExt/vServMoeda': '600.00',
};

const EXPORTACAO: Persona = {
  id: 'exportacao',
  titulo: 'Exportação de serviços',
  historia:
    'Empresa que desenvolve sistemas para clientes de outros países. A DPS diz tribISSQN 3 e traz serv/comExt inteiro, com a moeda pelo código do Banco Central. Veja que a nota não tem ISSQN nem município de incidência, e que o IBS e a CBS voltam zerados (cClassTrib 410004).',
  prestador: consultoria,
  cadastros: {},
  cenarios: [
    daExportadora({
      id: 'resultado-no-exterior',
      titulo: 'Feito no Brasil, com o resultado lá fora',
      explica: 'O país do resultado vai em cPaisResult. A nota de 10.000,00 traz só o valor líquido.',
      dps: { ...valor('10000.00'), 'valores/trib/tribMun/cPaisResult': 'US' },
    }),
    daExportadora({
      id: 'prestado-no-exterior',
      titulo: 'Prestado no exterior',
      explica: 'O lugar da prestação é um país, em cPaisPrestacao, e cPaisResult não se envia. O líquido é 7.500,50.',
      dps: { ...valor('7500.50'), 'serv/locPrest/cPaisPrestacao': 'US', 'serv/comExt/mdPrestacao': '4' },
    }),
    daExportadora({
      id: 'sem-nif',
      titulo: 'Cliente de um país que não exige o NIF',
      explica: 'Em lugar do NIF vai cNaoNIF 2. A nota de 3.000,00 é cancelada depois, por evento.',
      dps: { ...valor('3000.00'), ...EM_DUBAI, 'valores/trib/tribMun/cPaisResult': 'AE' },
      evento: CANCELAMENTO,
    }),
  ],
};

const polo = prestador({
  documento: '99005050000129',
  razao_social: 'Laboratório Fictício de Sistemas Ltda',
  inscricao_municipal: '95050',
  numero: '5050',
});

const BM = 'valores/trib/tribMun/BM';

/** Numbers of the benefits: the municipality, the kind 04 (other benefits), and a sequence. */
const BENEFICIOS = {
  percentual: `${MUNICIPIO_DAS_PERSONAS}0490001`,
  reais: `${MUNICIPIO_DAS_PERSONAS}0490002`,
  aliquota: `${MUNICIPIO_DAS_PERSONAS}0490003`,
  isencao: `${MUNICIPIO_DAS_PERSONAS}0490004`,
} as const;

function doPolo(cenario: Dito): Cenario {
  const dps: Patch = {
    ...emitidaPor(polo),
    ...servico('010101', '115022000', 'Desenvolvimento de sistema incentivado'),
    ...iss('5.00'),
    ...TOMADORA,
    ...ibsCbs('100301', '000001'),
    ...cenario.dps,
  };
  return { ...cenario, dps, avisos: [] };
}

function beneficio(numero: string, descricao: string, tipo: string, mais: Readonly<Record<string, string>>) {
  const nada = { reducao: '', aliquota: '', servicos: '' };
  return { numero, descricao, tipo, ...nada, ...mais, documentos: polo.documento, inicio: '2026-01-01', fim: '' };
}

const BENEFICIO: Persona = {
  id: 'beneficio',
  titulo: 'Empresa com benefícios municipais',
  historia:
    'Empresa de um polo de tecnologia a que o município do ensaio concedeu quatro benefícios, um de cada tipo, cadastrados para o CNPJ dela. O número vai em BM/nBM, e a nota diz o tipo em tpBM. Um nBM que não está no cadastro é denunciado por aviso.',
  prestador: polo,
  cadastros: {
    beneficios: [
      beneficio(BENEFICIOS.percentual, 'Polo fictício de tecnologia', 'reducao_percentual', { reducao: '50.00' }),
      beneficio(BENEFICIOS.reais, 'Crédito fictício de obra doada', 'reducao_valor', {}),
      beneficio(BENEFICIOS.aliquota, 'Alíquota fictícia de inovação', 'aliquota_diferenciada', {
        aliquota: '2.00',
        servicos: '010101',
      }),
      beneficio(BENEFICIOS.isencao, 'Isenção fictícia de obras do polo', 'isencao', { servicos: '070202' }),
    ],
  },
  cenarios: [
    doPolo({
      id: 'reducao-percentual',
      titulo: 'Base reduzida em percentual',
      explica: 'De 1.000,00 o benefício tira 50%: a base é 500,00, e o ISSQN a 5% é 25,00.',
      dps: { ...valor('1000.00'), [`${BM}/nBM`]: BENEFICIOS.percentual, [`${BM}/pRedBCBM`]: '50.00' },
    }),
    doPolo({
      id: 'reducao-em-reais',
      titulo: 'Base reduzida em reais',
      explica: 'De 1.000,00 o benefício tira 200,00: a base é 800,00, e o tomador retém 40,00 de ISSQN.',
      dps: {
        ...valor('1000.00'),
        ...iss('5.00', 'tomador'),
        [`${BM}/nBM`]: BENEFICIOS.reais,
        [`${BM}/vRedBCBM`]: '200.00',
      },
    }),
    doPolo({
      id: 'aliquota-diferenciada',
      titulo: 'Alíquota que o município fixou',
      explica:
        'A DPS não traz pAliq: a alíquota de 2% é a do cadastro, e o ISSQN de 1.000,00 é 20,00. A nota é cancelada depois.',
      dps: { ...valor('1000.00'), ...SEM_ALIQUOTA, [`${BM}/nBM`]: BENEFICIOS.aliquota },
      evento: CANCELAMENTO,
    }),
    doPolo({
      id: 'isencao',
      titulo: 'Serviço isento',
      explica:
        'A obra do polo é isenta: na nota de 2.000,00 a base e o ISSQN são zero, e o IBS e a CBS seguem devidos.',
      dps: {
        ...servico('070202', '101011100', 'Obra do polo de tecnologia'),
        ...valor('2000.00'),
        ...SEM_ALIQUOTA,
        ...OBRA_NO_ENDERECO,
        ...ibsCbs('020201', '200046'),
        [`${BM}/nBM`]: BENEFICIOS.isencao,
      },
    }),
  ],
};

export const COM_GRUPO: readonly Persona[] = [OBRA, EVENTO, EXPORTACAO, BENEFICIO];
