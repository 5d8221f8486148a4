/**
 * Codes of fiscal rules that the specification fixes and that no rule sends yet. When the rule is written, what it says
 * itself (`significado`, `origem`, `reservado`) goes from here.
 */
import { aboutTheDocument, type Row } from './row.ts';

type Reserved = Required<Pick<Row, 'codigo' | 'mensagem' | 'significado' | 'comoResolver' | 'origem'>> &
  Pick<Row, 'nacional'>;

const RESERVED: readonly Reserved[] = [
  {
    codigo: 'E0532',
    mensagem: 'cTribNac 990101 pede tribISSQN 4',
    significado: 'O código 990101 é o dos serviços sem incidência de ISSQN, e a tributação tem de dizer o mesmo.',
    comoResolver: 'Envie tribISSQN 4, ou corrija o cTribNac.',
    origem: 'Especificação, DPS: tribMun; Errors: E0532; Anexo I, E0532',
  },
  {
    codigo: 'E0585',
    mensagem: 'Exigibilidade suspensa numa operação não tributável',
    significado: 'Só um ISSQN devido pode ter a exigibilidade suspensa: exigSusp pede tribISSQN 1.',
    comoResolver: 'Retire exigSusp, ou corrija tribISSQN.',
    origem: 'Especificação, DPS: tribMun; Errors: E0585; Anexo I, E0585',
  },
  {
    codigo: 'E0592',
    mensagem: 'Tipo de imunidade ausente ou fora de lugar',
    significado: 'tpImunidade acompanha tribISSQN 2, que é a imunidade, e nenhum outro.',
    comoResolver: 'Com tribISSQN 2 informe tpImunidade de 1 a 5; nos demais casos retire-o.',
    origem: 'Especificação, Errors: E0592; Anexo I, E0592',
  },
  {
    codigo: 'E0677',
    mensagem: 'Base do PIS e da COFINS maior que o valor do serviço',
    significado: 'vBCPisCofins é uma parte do valor do serviço, e não o ultrapassa.',
    comoResolver: 'Corrija vBCPisCofins, no máximo igual a vServ.',
    origem: 'Especificação, DPS: tribFed; Errors: E0677; Anexo I, E0677',
  },
  {
    codigo: 'E0694',
    mensagem: 'O valor do PIS não é a base vezes a alíquota',
    significado: 'Com pAliqPis informado, vPis é vBCPisCofins vezes a alíquota, com tolerância de 0,01.',
    comoResolver: 'Recalcule vPis, ou deixe alíquota e valor de fora.',
    origem: 'Especificação, DPS: tribFed; Errors: E0694; Anexo I, E0694',
  },
  {
    codigo: 'E0696',
    mensagem: 'O valor da COFINS não é a base vezes a alíquota',
    significado: 'Com pAliqCofins informado, vCofins é vBCPisCofins vezes a alíquota, com tolerância de 0,01.',
    comoResolver: 'Recalcule vCofins, ou deixe alíquota e valor de fora.',
    origem: 'Especificação, DPS: tribFed; Errors: E0696; Anexo I, E0696',
  },
  {
    codigo: 'E0699',
    mensagem: 'Contribuição previdenciária retida fora do intervalo',
    significado: 'vRetCP, quando vem, é maior que zero e menor que o valor do serviço.',
    comoResolver: 'Corrija vRetCP; sem retenção, retire o elemento.',
    origem: 'Especificação, DPS: tribFed; Errors: E0699; Anexo I, E0699',
  },
  {
    codigo: 'E0700',
    mensagem: 'Imposto de renda retido fora do intervalo',
    significado: 'vRetIRRF, quando vem, é maior que zero e menor que o valor do serviço.',
    comoResolver: 'Corrija vRetIRRF; sem retenção, retire o elemento.',
    origem: 'Especificação, DPS: tribFed; Errors: E0700; Anexo I, E0700',
  },
  {
    codigo: 'E0701',
    mensagem: 'PIS, COFINS e CSLL retidos fora do intervalo',
    significado: 'vRetCSLL, quando vem, é maior que zero e menor que o valor do serviço.',
    comoResolver: 'Corrija vRetCSLL; sem retenção, retire o elemento.',
    origem: 'Especificação, DPS: tribFed; Errors: E0701; Anexo I, E0701',
  },
  {
    codigo: 'E0720',
    mensagem: 'Valor retido numa nota sem retenção de PIS, COFINS e CSLL',
    significado: 'Com tpRetPisCofins 0, que é nenhuma retenção, vRetCSLL não se envia.',
    comoResolver: 'Retire vRetCSLL, ou diga em tpRetPisCofins o que foi retido.',
    origem: 'Especificação, DPS: tribFed; Errors: E0720; Anexo I, E0720',
  },
  {
    codigo: 'E0724',
    mensagem: 'Falta o valor retido de PIS, COFINS e CSLL',
    significado: 'Com tpRetPisCofins diferente de 0 e de 2 há retenção, e vRetCSLL a traz.',
    comoResolver: 'Informe vRetCSLL, ou corrija tpRetPisCofins.',
    origem: 'Especificação, DPS: tribFed; Errors: E0724; Anexo I, E0724',
  },
  {
    codigo: 'E1301',
    mensagem: 'Município de incidência numa operação que não o tem',
    significado:
      'Imunidade, exportação e não incidência não têm município de incidência, e o corpo JSON declarou um em municipio_incidencia.',
    comoResolver: 'Retire municipio_incidencia, ou corrija tributacao_issqn.',
    origem: 'Especificação, tribMun: incidência; Errors: E1301; decisão D-22',
  },
  {
    codigo: 'E1303',
    mensagem: 'Valores do ISSQN numa operação sem ISSQN',
    significado: 'Com tribISSQN 2, 3 ou 4 a nota traz só o valor líquido: base, alíquota e imposto ficam de fora.',
    comoResolver: 'Retire os valores do ISSQN, ou corrija tribISSQN.',
    origem: 'Especificação, Errors: E1303; Anexo I, E1303',
  },
  {
    codigo: 'E1311',
    mensagem: 'Valores do ISSQN com a exigibilidade suspensa',
    significado:
      'Com exigSusp a nota traz só o valor líquido: pAliq, base, ISSQN e ISSQN retido não se enviam, e não há retenção.',
    comoResolver: 'Retire pAliq e envie tpRetISSQN 1, ou retire exigSusp.',
    origem: 'Especificação, DPS: tribMun; Errors: E1311; Anexo I, E1311',
  },
  {
    codigo: 'E1317',
    mensagem: 'A incidência deste serviço é no local da prestação',
    significado:
      'A regra do cTribNac aponta o local da prestação, e o município declarado em municipio_incidencia, no corpo JSON, é outro.',
    comoResolver: 'Retire municipio_incidencia, que é calculado, ou corrija o município da prestação.',
    origem: 'Especificação, Errors: E1317; decisões D-22 e D-81',
  },
  {
    codigo: 'E1321',
    mensagem: 'A incidência deste serviço é no município do tomador',
    significado:
      'A regra do cTribNac aponta o estabelecimento do tomador, e o município declarado em municipio_incidencia, no corpo JSON, é outro.',
    comoResolver: 'Retire municipio_incidencia, que é calculado, ou corrija o endereço do tomador.',
    origem: 'Especificação, Errors: E1321; decisões D-22 e D-81',
  },
];

export const FISCAIS: readonly Row[] = aboutTheDocument(RESERVED.map((row) => ({ ...row, reservado: true })));
