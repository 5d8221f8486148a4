/** Rules of the place of provision and of the service codes, `serv/locPrest` and `serv/cServ`. */
import { municipioOf, servicoOf } from '../catalogs/catalogs.ts';
import { incidenceOf, MARITIME } from '../incidence.ts';
import type { Rule } from './rule.ts';

/** The one code that may be provided in maritime waters, by the specification (decided in D-80). */
const MARITIME_SERVICO = '200101';

export const SERV: readonly Rule[] = [
  {
    code: 'E403',
    at: 'serv/locPrest/cLocPrestacao',
    message: ({ serv }) =>
      `O código IBGE ${serv.locPrest.cLocPrestacao}, no local da prestação, não é de nenhum município. Consulte o catálogo de municípios.`,
    origin: 'Especificação, Errors: E403',
    why: 'O local da prestação decide onde o imposto de muitos serviços é devido.',
    when: ({ serv }) => serv.locPrest.cLocPrestacao !== undefined && serv.locPrest.cLocPrestacao !== MARITIME,
    must: ({ serv }) => municipioOf(serv.locPrest.cLocPrestacao!) !== undefined,
    found: ({ serv }) => serv.locPrest.cLocPrestacao,
    expected: 'código IBGE de um município do catálogo',
    rejects: [{ 'serv/locPrest/cLocPrestacao': '9999999' }],
    accepts: [{ 'serv/locPrest/cLocPrestacao': '3304557' }],
  },
  {
    code: 'E1313',
    at: 'serv/locPrest/cLocPrestacao',
    message: ({ serv }) =>
      `cLocPrestacao 0000000 (águas marítimas) não é aceito com cTribNac ${serv.cServ.cTribNac}. Informe o município da prestação.`,
    origin: 'Especificação, Errors: E1313',
    why: 'Só o serviço portuário 20.01.01 pode ser prestado em águas marítimas, segundo a especificação do serviço.',
    national:
      'No padrão nacional o E1313 diz o contrário: com 0000000 e código diferente de 200101 a incidência é do município do prestador.',
    when: ({ serv }) => serv.locPrest.cLocPrestacao === MARITIME,
    must: ({ serv }) => serv.cServ.cTribNac === MARITIME_SERVICO,
    found: ({ serv }) => serv.locPrest.cLocPrestacao,
    expected: 'código IBGE do município da prestação',
    also: ['E1402'],
    rejects: [{ 'serv/locPrest/cLocPrestacao': MARITIME }],
    accepts: [{ 'serv/locPrest/cLocPrestacao': MARITIME, 'serv/cServ/cTribNac': MARITIME_SERVICO }],
  },
  {
    code: 'E1402',
    at: 'serv/cServ/cTribNac',
    message: ({ serv }) =>
      `Com o local da prestação em águas marítimas (0000000) o cTribNac deve ser ${MARITIME_SERVICO}; veio ${serv.cServ.cTribNac}.`,
    origin: 'Especificação, Errors: E1402',
    why: 'É a outra metade do E1313: o mesmo desacordo visto do código do serviço.',
    national:
      'No padrão nacional o E1402 proíbe 0000000 justamente com 200101; o ADN pode recusar essa nota depois de emitida.',
    when: ({ serv }) => serv.locPrest.cLocPrestacao === MARITIME,
    must: ({ serv }) => serv.cServ.cTribNac === MARITIME_SERVICO,
    found: ({ serv }) => serv.cServ.cTribNac,
    expected: MARITIME_SERVICO,
    also: ['E1313'],
    rejects: [{ 'serv/locPrest/cLocPrestacao': MARITIME, 'serv/cServ/cTribNac': '200102' }],
    accepts: [{ 'serv/locPrest/cLocPrestacao': MARITIME, 'serv/cServ/cTribNac': MARITIME_SERVICO }],
  },
  {
    code: 'E002',
    at: 'serv/cServ/cTribNac',
    message: ({ serv }) => {
      const { cTribNac } = serv.cServ;
      const servico = servicoOf(cTribNac);
      if (servico === undefined) {
        return `cTribNac ${cTribNac} não existe na lista nacional de serviços. Consulte o catálogo codigos_tributacao_nacional.`;
      }
      return servico.situacao === 'futuro'
        ? `cTribNac ${cTribNac} ainda não está em vigor na lista nacional de serviços.`
        : `cTribNac ${cTribNac} é um título da lista nacional ("${servico.descricao}"), não um serviço que se emite; use um dos códigos dentro dele.`;
    },
    origin: 'Especificação, Issuance: regra 4; decisão D-13',
    why: 'O código nacional decide incidência, grupos obrigatórios e tributação; não há código substituto.',
    must: ({ serv }) => servicoOf(serv.cServ.cTribNac)?.emissivel === true,
    found: ({ serv }) => serv.cServ.cTribNac,
    expected: 'código de tributação nacional emissível, 6 algarismos',
    rejects: [{ 'serv/cServ/cTribNac': '999999' }, { 'serv/cServ/cTribNac': '010100' }],
    accepts: [{ 'serv/cServ/cTribNac': '010201' }],
  },
  {
    code: 'E0310',
    at: 'serv/cServ/cTribNac',
    message: ({ serv }) =>
      `O município não administra o código ${serv.cServ.cTribNac} na competência informada. Confira o código; se é o do serviço, peça ao município que o inclua na sua lista.`,
    origin: 'Especificação, Errors: E0310; decisão D-13',
    why: 'A prefeitura só emite notas dos serviços que administra.',
    when: ({ serv }) => servicoOf(serv.cServ.cTribNac)?.emissivel === true,
    must: ({ serv, dCompet }, { administers }) => administers(serv.cServ.cTribNac, dCompet),
    found: ({ serv }) => serv.cServ.cTribNac,
    // Needs a municipality with a service list: the sandbox administers every national code (decided in D-61).
    rejects: [],
    accepts: [{}],
    national:
      'No padrão nacional o E0310 diz que o código não existe na lista nacional, e o E0312 que o município não o administra.',
  },
  {
    code: 'E402',
    at: 'serv/cServ/cTribMun',
    message: ({ serv }) =>
      `cTribMun ${serv.cServ.cTribMun} não está na lista de serviços do município na competência informada. Peça a lista ao município, ou retire o elemento, que é opcional: basta o código nacional.`,
    origin: 'Especificação, Errors: E402; decisão D-13',
    why: 'O código municipal, quando vem, escolhe descrição e alíquota na lista do município.',
    when: ({ serv }) => serv.cServ.cTribMun !== undefined,
    must: ({ serv, dCompet }, { servicoMunicipal }) => servicoMunicipal(serv.cServ.cTribMun!, dCompet) !== undefined,
    found: ({ serv }) => serv.cServ.cTribMun,
    rejects: [],
    accepts: [{ 'serv/cServ/cTribMun': null }],
  },
  {
    code: 'E1305',
    at: 'valores/trib/tribMun/tribISSQN',
    message:
      'Não é possível saber em que município o ISSQN é devido: para este serviço é preciso o município da prestação ou o endereço do tomador.',
    origin: 'Especificação, tribMun: incidência; decisão D-22',
    why: 'Uma operação tributável tem um município de incidência, derivado do serviço, do prestador, do tomador e do local.',
    when: ({ serv, valores }) =>
      valores.trib.tribMun.tribISSQN === '1' &&
      servicoOf(serv.cServ.cTribNac)?.emissivel === true &&
      servicoOf(serv.cServ.cTribNac)?.regra !== 'NI',
    must: (dps) => incidenceOf(dps) !== undefined,
    rejects: [{ 'serv/cServ/cTribNac': '170501', 'toma/end': null }],
    accepts: [{ 'serv/cServ/cTribNac': '170501' }],
  },
];
