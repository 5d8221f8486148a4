/** Personas of the Simples Nacional: with the ISSQN as a fixed amount, in the DAS, or outside of it. */
import type { Patch } from '../rules/rule.ts';
import {
  CANCELAMENTO,
  type Cenario,
  emitidaPor,
  ibsCbs,
  iss,
  type Persona,
  prestador,
  SEM_ALIQUOTA,
  SEM_TOMADOR,
  servico,
  TOMADORA,
  valor,
} from './persona.ts';

/** MEI, ME and EPP issue by the national emitter (E0161): their notes from a municipality get a remark. */
const DO_EMISSOR_NACIONAL = ['E0161'];

const barbearia = prestador({
  documento: '99000101000120',
  razao_social: 'Barbearia Fictícia MEI',
  inscricao_municipal: '90101',
  numero: '101',
  simples: '2021-03-01',
});

function doMei(cenario: Omit<Cenario, 'avisos'>): Cenario {
  const dps: Patch = {
    ...emitidaPor(barbearia),
    'prest/regTrib/opSimpNac': '2',
    ...servico('060101', '126021000', 'Corte de cabelo e barba'),
    ...SEM_ALIQUOTA,
    ...ibsCbs('030101', '000001'),
    ...cenario.dps,
  };
  return { ...cenario, dps, avisos: DO_EMISSOR_NACIONAL };
}

const MEI: Persona = {
  id: 'mei',
  titulo: 'Microempreendedor individual',
  historia:
    'Barbearia de um só dono, MEI desde 2021. O ISSQN é um valor fixo por mês, pago fora da nota: não há alíquota, base nem imposto nela. Veja em valores só o vLiq, e o grupo IBSCBS apenas desde a competência de 01/01/2027.',
  prestador: barbearia,
  cadastros: {},
  cenarios: [
    doMei({
      id: 'consumidor',
      titulo: 'Corte para um cliente com CPF',
      explica:
        'A nota traz só o valor líquido, 80,00, sem ISSQN. O aviso E0161 lembra que o MEI emite no portal nacional.',
      dps: valor('80.00'),
    }),
    doMei({
      id: 'empresa',
      titulo: 'Atendimento contratado por uma empresa',
      explica: 'Também com o tomador empresa não há o que reter de um MEI: o líquido é o preço, 400,00.',
      dps: { ...TOMADORA, ...valor('400.00'), 'serv/cServ/xDescServ': 'Cortes de cabelo em evento de empregados' },
    }),
    doMei({
      id: 'sem-tomador',
      titulo: 'Cliente que não se identifica',
      explica: 'A DPS não traz o grupo toma, e a nota de 45,00 sai sem tomador.',
      dps: { ...SEM_TOMADOR, ...valor('45.00') },
    }),
    doMei({
      id: 'cancelada',
      titulo: 'Nota cancelada por evento',
      explica:
        'Depois de autorizada, a nota de 60,00 recebe o evento de cancelamento e fica cancelada quando ele é processado.',
      dps: valor('60.00'),
      evento: CANCELAMENTO,
    }),
  ],
};

const suporte = prestador({
  documento: '99000202000109',
  razao_social: 'Suporte Fictício Informática ME',
  inscricao_municipal: '90202',
  numero: '202',
  simples: '2020-01-01',
});

function doSuporte(cenario: Omit<Cenario, 'avisos'>): Cenario {
  const dps: Patch = {
    ...emitidaPor(suporte),
    'prest/regTrib/opSimpNac': '3',
    'prest/regTrib/regApTribSN': '1',
    ...servico('010701', '115013000', 'Suporte técnico mensal em informática'),
    ...SEM_ALIQUOTA,
    ...TOMADORA,
    ...ibsCbs('100301', '000001'),
    ...cenario.dps,
  };
  return { ...cenario, dps, avisos: DO_EMISSOR_NACIONAL };
}

const NO_DAS: Persona = {
  id: 'simples-no-das',
  titulo: 'Microempresa que paga o ISSQN no DAS',
  historia:
    'Microempresa de suporte em informática, optante do Simples Nacional, com todos os tributos no DAS. Sem retenção a nota traz só o vLiq; com retenção traz base, alíquota da faixa do prestador e ISSQN. O grupo IBSCBS só é devido desde a competência de 01/01/2027.',
  prestador: suporte,
  cadastros: {},
  cenarios: [
    doSuporte({
      id: 'sem-retencao',
      titulo: 'ISSQN recolhido no DAS',
      explica: 'Não se envia pAliq. A nota traz só o valor líquido, 1.500,00: o ISSQN está no DAS.',
      dps: valor('1500.00'),
    }),
    doSuporte({
      id: 'retido',
      titulo: 'ISSQN retido pelo tomador',
      explica:
        'O tomador retém à alíquota efetiva do prestador, 2,79%, que vai em pAliq: de 2.000,00 são 55,80 de ISSQN retido, e o líquido é 1.944,20.',
      dps: { ...valor('2000.00'), ...iss('2.79', 'tomador') },
    }),
    doSuporte({
      id: 'pessoa-fisica',
      titulo: 'Serviço para uma pessoa',
      explica: 'O tomador é identificado por CPF, e a nota é a mesma: só o valor líquido, 320,00.',
      dps: {
        ...valor('320.00'),
        'toma/CNPJ': null,
        'toma/CPF': '12345678909',
        'toma/xNome': 'Cliente Fictício da Silva',
      },
    }),
    doSuporte({
      id: 'substituida',
      titulo: 'Nota substituída por outra',
      explica:
        'A nota de 900,00 saiu com a descrição errada. Emita a substituta, com o grupo subst, e registre na primeira o evento cancelamento_por_substituicao com a chave da nova: a primeira fica cancelada, e a nova segue.',
      dps: { ...valor('900.00'), 'serv/cServ/xDescServ': 'Suporte tecnico do mes errado' },
      evento: {
        tipo: 'cancelamento_por_substituicao',
        corpo: {
          codigo_motivo_cancelamento: '99',
          descricao_motivo_cancelamento: 'Descrição do serviço corrigida na nota substituta',
        },
      },
      substituta: { 'serv/cServ/xDescServ': 'Suporte técnico do mês certo' },
    }),
  ],
};

const agencia = prestador({
  documento: '99000303000171',
  razao_social: 'Agência Fictícia de Propaganda EPP',
  inscricao_municipal: '90303',
  numero: '303',
  simples: '2019-01-01',
});

function daAgencia(cenario: Omit<Cenario, 'avisos'>): Cenario {
  const dps: Patch = {
    ...emitidaPor(agencia),
    'prest/regTrib/opSimpNac': '3',
    'prest/regTrib/regApTribSN': '2',
    ...servico('170601', '114061100', 'Criação de campanha publicitária'),
    ...TOMADORA,
    ...ibsCbs('100301', '000001'),
    ...cenario.dps,
  };
  return { ...cenario, dps, avisos: DO_EMISSOR_NACIONAL };
}

const POR_FORA: Persona = {
  id: 'simples-por-fora',
  titulo: 'Optante do Simples com o ISSQN fora do DAS',
  historia:
    'Agência optante do Simples Nacional que passou do sublimite da receita: os tributos federais seguem no DAS, e o ISSQN se apura na nota como o de qualquer empresa (regApTribSN 2). Veja base, alíquota e ISSQN em valores, e o IBSCBS só desde a competência de 01/01/2027, como todo optante.',
  prestador: agencia,
  cadastros: {},
  cenarios: [
    daAgencia({
      id: 'por-conta-propria',
      titulo: 'ISSQN pago pelo prestador',
      explica: 'De 10.000,00 a 5% são 500,00 de ISSQN, que o prestador paga: o líquido é o preço inteiro.',
      dps: { ...valor('10000.00'), ...iss('5.00') },
    }),
    daAgencia({
      id: 'retido',
      titulo: 'ISSQN retido pelo tomador',
      explica: 'De 3.000,00 a 5% o tomador retém 150,00, e o líquido é 2.850,00.',
      dps: { ...valor('3000.00'), ...iss('5.00', 'tomador') },
    }),
    daAgencia({
      id: 'rejeitada',
      titulo: 'Nota que o tomador rejeita',
      explica:
        'O tomador registra o evento rejeicao_tomador na nota de 1.000,00. Ela segue autorizada: rejeitar não é cancelar.',
      dps: { ...valor('1000.00'), ...iss('5.00') },
      evento: {
        tipo: 'rejeicao_tomador',
        corpo: {
          codigo_motivo_rejeicao: '9',
          descricao_motivo_rejeicao: 'O serviço descrito na nota não foi contratado',
        },
      },
    }),
  ],
};

export const DO_SIMPLES: readonly Persona[] = [MEI, NO_DAS, POR_FORA];
