/** Personas outside the Simples Nacional that differ by their kind of provider. */
import type { Patch } from '../rules/rule.ts';
import {
  CANCELAMENTO,
  type Cenario,
  emitidaPor,
  INTERMEDIARIA,
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

type Dito = Omit<Cenario, 'avisos'>;

const TRIB_FED = 'valores/trib/tribFed';

const vigilancia = prestador({
  documento: '99000404000142',
  razao_social: 'Vigilância Fictícia SA',
  inscricao_municipal: '90404',
  numero: '404',
});

function daVigilancia(cenario: Dito): Cenario {
  const dps: Patch = {
    ...emitidaPor(vigilancia),
    ...servico('110201', '118025000', 'Vigilância patrimonial do mês'),
    ...TOMADORA,
    ...ibsCbs('100301', '000001'),
    ...cenario.dps,
  };
  return { ...cenario, dps, avisos: [] };
}

const RETENCOES: Persona = {
  id: 'regime-geral',
  titulo: 'Empresa do regime geral, com retenções',
  historia:
    'Empresa de vigilância fora do Simples Nacional, cujos tomadores retêm contribuição previdenciária, imposto de renda, PIS, COFINS, CSLL e ISSQN. Veja vTotalRet e vLiq, e como o IBS e a CBS se calculam sobre o preço sem ISSQN, PIS e COFINS. Desde 2027 não há mais PIS nem COFINS, e a retenção muda.',
  prestador: vigilancia,
  cadastros: {},
  cenarios: [
    daVigilancia({
      id: 'tudo-retido',
      titulo: 'Todas as retenções na mesma nota',
      explica:
        'De 10.000,00 retêm-se 1.100,00 de INSS, 100,00 de IRRF, 465,00 de PIS, COFINS e CSLL e 500,00 de ISSQN: são 2.165,00, e o líquido é 7.835,00. Desde 2027 a CSLL retida é só 100,00, e o líquido 8.200,00.',
      dps: {
        ...valor('10000.00'),
        ...iss('5.00', 'tomador'),
        [`${TRIB_FED}/piscofins/CST`]: '01',
        [`${TRIB_FED}/piscofins/vBCPisCofins`]: '10000.00',
        [`${TRIB_FED}/piscofins/pAliqPis`]: '0.65',
        [`${TRIB_FED}/piscofins/pAliqCofins`]: '3.00',
        [`${TRIB_FED}/piscofins/vPis`]: '65.00',
        [`${TRIB_FED}/piscofins/vCofins`]: '300.00',
        [`${TRIB_FED}/piscofins/tpRetPisCofins`]: '3',
        [`${TRIB_FED}/vRetCP`]: '1100.00',
        [`${TRIB_FED}/vRetIRRF`]: '100.00',
        [`${TRIB_FED}/vRetCSLL`]: '465.00',
      },
      desde2027: { [`${TRIB_FED}/piscofins`]: null, [`${TRIB_FED}/vRetCSLL`]: '100.00' },
    }),
    daVigilancia({
      id: 'pessoa-fisica',
      titulo: 'Sem retenção nenhuma',
      explica: 'O tomador é uma pessoa, que não retém: o ISSQN de 25,00 é pago pelo prestador, e o líquido é 500,00.',
      dps: {
        ...valor('500.00'),
        ...iss('5.00'),
        'toma/CNPJ': null,
        'toma/CPF': '52998224725',
        'toma/xNome': 'Maria Exemplo',
      },
    }),
    daVigilancia({
      id: 'intermediario',
      titulo: 'ISSQN retido pelo intermediário',
      explica:
        'O serviço foi vendido por uma intermediadora, que retém o ISSQN de 100,00 e confirma a nota com o evento confirmacao_intermediario. O líquido é 1.900,00.',
      dps: { ...INTERMEDIARIA, ...valor('2000.00'), ...iss('5.00', 'intermediario') },
      evento: { tipo: 'confirmacao_intermediario', corpo: {} },
    }),
    daVigilancia({
      id: 'outro-municipio',
      titulo: 'Serviço prestado em outro município',
      explica:
        'A vigilância é devida onde é prestada: no Rio de Janeiro, que está em cLocIncid. O tomador de lá retém os 200,00 de ISSQN, e o líquido é 3.800,00.',
      dps: {
        ...valor('4000.00'),
        ...iss('5.00', 'tomador'),
        'serv/locPrest/cLocPrestacao': '3304557',
        'toma/CNPJ': '99000909000107',
        'toma/xNome': 'Tomadora Fictícia do Rio Ltda',
        'toma/end/endNac/cMun': '3304557',
        'toma/end/endNac/CEP': '20040002',
      },
    }),
    daVigilancia({
      id: 'analise-fiscal',
      titulo: 'Cancelamento pedido à prefeitura',
      explica:
        'O prestador pede a análise fiscal para cancelar a nota de 1.200,00, que segue autorizada até que a prefeitura decida.',
      dps: { ...valor('1200.00'), ...iss('5.00') },
      evento: {
        tipo: 'solicitacao_analise_fiscal_para_cancelamento',
        corpo: {
          codigo_motivo_cancelamento: '2',
          descricao_motivo_cancelamento: 'Serviço contratado que não chegou a ser prestado',
        },
      },
    }),
  ],
};

const escola = prestador({
  documento: '99000505000113',
  razao_social: 'Instituto Fictício de Educação',
  inscricao_municipal: '90505',
  numero: '505',
});

function daEscola(cenario: Dito): Cenario {
  const dps: Patch = {
    ...emitidaPor(escola),
    ...servico('080101', '122012000', 'Mensalidade do ensino fundamental'),
    'valores/trib/tribMun/tribISSQN': '2',
    'valores/trib/tribMun/tpImunidade': '3',
    ...SEM_ALIQUOTA,
    ...ibsCbs('030101', '410007'),
    ...cenario.dps,
  };
  return { ...cenario, dps, avisos: [] };
}

const IMUNE: Persona = {
  id: 'imune',
  titulo: 'Entidade imune',
  historia:
    'Instituição de educação sem fins lucrativos, imune pela Constituição. A DPS diz tribISSQN 2 e tpImunidade 3, e o grupo IBSCBS traz só CST 410 e cClassTrib 410007. Veja que a nota não tem ISSQN, e que o IBS e a CBS voltam zerados.',
  prestador: escola,
  cadastros: {},
  cenarios: [
    daEscola({
      id: 'mensalidade',
      titulo: 'Mensalidade de um aluno',
      explica: 'Não há base, alíquota nem ISSQN: o líquido é o preço, 1.200,00, e o total do IBS e da CBS é zero.',
      dps: valor('1200.00'),
    }),
    daEscola({
      id: 'convenio',
      titulo: 'Bolsas pagas por uma empresa',
      explica: 'A imunidade é do prestador: com o tomador empresa a nota de 8.000,00 também não tem imposto.',
      dps: { ...TOMADORA, ...valor('8000.00'), 'serv/cServ/xDescServ': 'Bolsas de ensino para filhos de empregados' },
    }),
    daEscola({
      id: 'cancelada',
      titulo: 'Matrícula desfeita',
      explica: 'A nota de 600,00, sem tomador, é cancelada por evento.',
      dps: { ...SEM_TOMADOR, ...valor('600.00') },
      evento: CANCELAMENTO,
    }),
  ],
};

const psicologa = prestador({
  documento: '11144477735',
  razao_social: 'Psicóloga Fictícia de Souza',
  inscricao_municipal: '90606',
  numero: '606',
});

function daPsicologa(cenario: Dito): Cenario {
  const dps: Patch = {
    ...emitidaPor(psicologa),
    ...servico('041601', '123019800', 'Consulta de psicologia'),
    ...iss('2.00'),
    ...ibsCbs('030101', '200029'),
    ...cenario.dps,
  };
  return { ...cenario, dps, avisos: [] };
}

const PESSOA: Persona = {
  id: 'pessoa-fisica',
  titulo: 'Pessoa que presta serviços com o CPF',
  historia:
    'Psicóloga que emite com o próprio CPF, sem empresa. A chave de acesso traz o CPF com três zeros à frente, e o serviço de saúde tem o IBS e a CBS reduzidos em 60%. Veja a diferença entre o ISSQN por alíquota e o fixo do profissional autônomo.',
  prestador: psicologa,
  cadastros: {},
  cenarios: [
    daPsicologa({
      id: 'consulta',
      titulo: 'Consulta particular',
      explica: 'De 250,00 a 2% são 5,00 de ISSQN, pagos pelo prestador; a CBS é 0,36% de 245,00.',
      dps: valor('250.00'),
    }),
    daPsicologa({
      id: 'empresa-retem',
      titulo: 'Atendimento pago por uma empresa',
      explica: 'A empresa retém os 60,00 de ISSQN: de 3.000,00 o líquido é 2.940,00.',
      dps: { ...TOMADORA, ...valor('3000.00'), ...iss('2.00', 'tomador') },
    }),
    daPsicologa({
      id: 'autonoma',
      titulo: 'Profissional autônoma com o ISSQN fixo',
      explica:
        'Com regEspTrib 5 o ISSQN se paga fora da nota, que traz só o valor líquido, 250,00. Não se envia pAliq.',
      dps: { ...valor('250.00'), ...SEM_ALIQUOTA, 'prest/regTrib/regEspTrib': '5' },
    }),
    daPsicologa({
      id: 'sem-tomador',
      titulo: 'Paciente que não se identifica',
      explica: 'A nota de 180,00 sai sem tomador, e depois é cancelada por evento.',
      dps: { ...SEM_TOMADOR, ...valor('180.00') },
      evento: CANCELAMENTO,
    }),
  ],
};

const software = prestador({
  documento: 'EXMPL026000164',
  razao_social: 'Software Fictício Ltda',
  inscricao_municipal: '90707',
  numero: '707',
});

function doSoftware(cenario: Dito): Cenario {
  const dps: Patch = {
    ...emitidaPor(software),
    ...servico('010101', '115022000', 'Desenvolvimento de sistema sob encomenda'),
    ...iss('2.00'),
    ...TOMADORA,
    ...ibsCbs('100301', '000001'),
    ...cenario.dps,
  };
  return { ...cenario, dps, avisos: [] };
}

const ALFANUMERICO: Persona = {
  id: 'cnpj-alfanumerico',
  titulo: 'Empresa com CNPJ alfanumérico',
  historia:
    'Empresa de software aberta em 2026, com letras no CNPJ. A chave de acesso e o identificador da DPS levam as letras, e só os dígitos verificadores são sempre dígitos. Veja se o seu sistema guarda a chave como texto.',
  prestador: software,
  cadastros: {},
  cenarios: [
    doSoftware({
      id: 'desenvolvimento',
      titulo: 'Desenvolvimento sob encomenda',
      explica: 'De 5.000,00 a 2% são 100,00 de ISSQN. A chave tem 50 posições, com letras da 10 à 23.',
      dps: valor('5000.00'),
    }),
    doSoftware({
      id: 'licenca',
      titulo: 'Licença de uso de um programa',
      explica:
        'O subitem 1.05 tem data própria: a DPS traz o grupo IBSCBS só desde a competência de 01/12/2026. O ISSQN de 700,00 a 2% é 14,00.',
      dps: {
        ...servico('010501', '111032200', 'Licença mensal de uso de programa de computador'),
        ...valor('700.00'),
        ...ibsCbs('100501', '000001'),
      },
    }),
    doSoftware({
      id: 'tomador-alfanumerico',
      titulo: 'Tomador também com letras no CNPJ',
      explica: 'Prestador e tomador têm CNPJ alfanumérico. O tomador confirma a nota de 1.500,00 por evento.',
      dps: { ...valor('1500.00'), 'toma/CNPJ': 'TMDR0026000187', 'toma/xNome': 'Tomadora Fictícia Nova Ltda' },
      evento: { tipo: 'confirmacao_tomador', corpo: {} },
    }),
    doSoftware({
      id: 'cancelada',
      titulo: 'Nota cancelada por evento',
      explica: 'O identificador do evento leva a chave, com as letras dela. A nota de 250,00 fica cancelada.',
      dps: valor('250.00'),
      evento: CANCELAMENTO,
    }),
  ],
};

export const GERAIS: readonly Persona[] = [RETENCOES, IMUNE, PESSOA, ALFANUMERICO];
