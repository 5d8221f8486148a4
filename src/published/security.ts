/**
 * The access rules: one row for each address of each door. `docs/seguranca.md` is made of them. `test/seguranca.test.ts` asks each address
 * as a stranger, as a party and as a party of another municipality. It compares the answers with the rows.
 *
 * The rows state the behaviour of production. An address without a row, or a row without an address, is an error.
 */

import { ownOf } from '../fiscal/own.ts';
import { OPERACOES } from '../subjects/lotes/porto.ts';
import { PEDIDO_MAX_MINUTES } from '../subjects/partes/tokens.ts';
import { comOBancoTable } from './com-o-banco.ts';
import { code, table, writeBraces } from './markdown.ts';
import { tentouMarkdown } from './o-que-se-tentou.ts';
import type { DescribedRoute } from './openapi/described.ts';
import {
  ARQUIVOS_PATH,
  BALCAO_PATH,
  BUSCA_JSON_PATH,
  BUSCA_PATH,
  CONFERIR_PATH,
  CONSULTA_PATH,
  DOCS_PATH,
  ENSAIO_PATH,
  ERROS_JSON_PATH,
  ERROS_PATH,
  MIGRAR_PATH,
  OPENAPI_PATH,
  REFERENCE_PATH,
  SCRIPT_PATH,
} from './paths.ts';

/**
 * The information that a stranger gets. `nada`: the answer does not depend on the object, and nothing is looked up. `existencia`: the
 * existence of the object, and no more. `chave`: the holder of the key or protocol number counts as a party, and no other way finds the
 * object. `publico`: the answer is for everybody.
 */
type Revela = 'nada' | 'existencia' | 'chave' | 'publico';

export type Acesso = {
  readonly quem: string;
  readonly revela: Revela;
  readonly estranho: string;
  readonly parte: string;
  /** The cost of a miss, if the route does not state it. */
  readonly custo?: string;
};

const PRESTADOR_ASSINA = 'quem assina como o prestador';
const POR_CHAVE: Omit<Acesso, 'parte'> = {
  quem: 'quem tem a chave de acesso',
  revela: 'chave',
  estranho: 'nada: sem a chave, 9 algarismos sorteados, a resposta é 404, como a de uma nota de outro município',
};
const POR_PROTOCOLO: Omit<Acesso, 'parte'> = {
  quem: 'quem tem o número de protocolo',
  revela: 'chave',
  estranho: 'nada: sem o protocolo, 20 algarismos sorteados, a resposta é 404',
};
const POR_LOTE: Omit<Acesso, 'parte'> = {
  quem: 'quem tem o protocolo do lote e o CNPJ',
  revela: 'chave',
  estranho: 'nada: sem o protocolo, 20 algarismos sorteados, não se encontra lote (E86)',
};
const PELO_CERTIFICADO: Pick<Acesso, 'quem' | 'revela'> = {
  quem: 'o próprio prestador, pelo certificado na conexão (`--consulta-dps`)',
  revela: 'nada',
};
const EVENTO_ASSINADO: Acesso = {
  quem: 'a parte da nota que o tipo do evento pede, que assina o corpo',
  revela: 'nada',
  estranho:
    'sem assinatura, nada; quem assina com outro certificado e tem a chave ou o protocolo sabe se a nota existe (404, ou E9007 e o que está errado no corpo)',
  parte: 'o evento registrado',
};
const NOTA_INTEIRA = 'a nota inteira, com o XML, e o protocolo';
const PUBLICO: Omit<Acesso, 'estranho'> = { quem: 'qualquer um', revela: 'publico', parte: 'o mesmo' };

const DAS_NOTAS: Readonly<Record<string, Acesso>> = {
  emitirNota: {
    quem: `${PRESTADOR_ASSINA} da DPS`,
    revela: 'nada',
    estranho:
      'o que está errado na assinatura (E9xx) e no documento que enviou, só pelo que ele diz: o banco de dados não se consulta',
    parte: 'a chave e o protocolo da nota; com série e número já usados, os da que existe (E0014)',
    custo: 'uma assinatura',
  },
  validarDps: {
    quem: `qualquer um; o cadastro e as outras notas, só ${PRESTADOR_ASSINA} da DPS`,
    revela: 'nada',
    estranho:
      'o que está errado no documento que enviou e os seus valores, só pelo que ele diz e o município publica; nao_conferido diz o que não se olhou',
    parte: 'o que a emissão responderia: cadastro, cálculo, e a chave da nota que já existe (E0014)',
  },
  verificarAssinatura: {
    ...PUBLICO,
    estranho: 'o que a produção diria da assinatura que enviou; não se olham o cadastro nem as notas',
    custo: 'uma parte pequena do processador, de todos juntos; além dela 503',
  },
  emitirNotaLeiaute100: { ...PUBLICO, estranho: 'o endereço correto, sempre o mesmo' },
  consultarNota: { ...POR_CHAVE, parte: NOTA_INTEIRA },
  consultarNotaPorProtocolo: { ...POR_PROTOCOLO, parte: NOTA_INTEIRA },
  consultarNotaPorProtocoloV101: { ...POR_PROTOCOLO, parte: NOTA_INTEIRA },
  registrarEvento: EVENTO_ASSINADO,
  registrarEventoPorProtocolo: EVENTO_ASSINADO,
  listarEventos: { ...POR_CHAVE, parte: 'os eventos da nota' },
  listarEventosDoTipo: { ...POR_CHAVE, parte: 'os eventos de um tipo' },
  consultarEvento: { ...POR_CHAVE, parte: 'um evento' },
  baixarDanfse: { ...POR_CHAVE, parte: 'a nota impressa' },
  consultarNotaPorDps: {
    quem: 'prestador, tomador ou intermediário da nota, pelo certificado na conexão (`--consulta-dps`)',
    revela: 'existencia',
    estranho:
      'sem certificado, nada; com o de outro, se há nota da DPS (401 ou 404), o que HEAD diz a todos, e nada dela',
    parte: NOTA_INTEIRA,
  },
  existeNotaDaDps: {
    quem: 'qualquer um',
    revela: 'existencia',
    estranho: 'se há nota de um prestador com uma série e um número, e nada dela',
    parte: 'o mesmo',
  },
  consultarSituacaoDoPrestador: {
    quem: 'o próprio prestador, pelo certificado na conexão',
    revela: 'nada',
    estranho: 'que não é ele; não se olha se o documento está cadastrado',
    parte: 'o seu cadastro, o que falta para emitir, e as suas obrigações',
  },
};

const PELO_DONO: Omit<Acesso, 'parte'> = {
  quem: 'o dono do documento, por um token dele ou pelo certificado na conexão',
  revela: 'nada',
  estranho: 'que não é ele; não se olha se há alguma coisa do documento',
};
const DO_TOKEN: Omit<Acesso, 'parte'> = {
  quem: 'o dono do documento, que assina o pedido ou mostra o certificado na conexão',
  revela: 'nada',
  estranho: 'só o que está errado no pedido ou na assinatura que enviou',
  custo: 'uma assinatura',
};
const DO_WEBHOOK: Omit<Acesso, 'parte'> = {
  quem: 'o dono do documento, por um token dele de escopo webhooks ou pelo certificado na conexão',
  revela: 'nada',
  estranho: 'que não é ele; um endereço de outro documento responde 404, como um que não existe',
};

const DO_ENSAIO: Omit<Acesso, 'parte'> = {
  quem: 'o dono do ambiente, pela chave dele',
  revela: 'nada',
  estranho: 'que não é o dono; que o município é um ambiente próprio, o nome já diz',
};

const DAS_PARTES: Readonly<Record<string, Acesso>> = {
  pedirToken: { ...DO_TOKEN, parte: 'o token, esta única vez' },
  listarTokens: { ...DO_TOKEN, parte: 'os tokens em vigor, sem o segredo' },
  revogarToken: { ...DO_TOKEN, parte: 'que foi revogado' },
  listarNotas: { ...PELO_DONO, parte: 'as notas de que o documento é parte, sem o XML' },
  listarEventosDaParte: { ...PELO_DONO, parte: 'os eventos dessas notas' },
  seguirMudancas: { ...PELO_DONO, parte: 'o que mudou nessas notas e eventos' },
  pedirExportacao: { ...PELO_DONO, parte: 'que o arquivo se faz' },
  listarExportacoes: { ...PELO_DONO, parte: 'as suas exportações' },
  consultarExportacao: { ...PELO_DONO, parte: 'como está a exportação' },
  baixarExportacao: { ...PELO_DONO, parte: 'o arquivo, com as notas de que o documento é parte' },
  cadastrarWebhook: { ...DO_WEBHOOK, parte: 'o endereço e o segredo, esta única vez' },
  listarWebhooks: { ...DO_WEBHOOK, parte: 'os seus endereços' },
  consultarWebhook: { ...DO_WEBHOOK, parte: 'o endereço, e quanto espera por ele' },
  alterarWebhook: { ...DO_WEBHOOK, parte: 'o endereço mudado' },
  retirarWebhook: { ...DO_WEBHOOK, parte: 'que foi retirado' },
  trocarSegredoDoWebhook: { ...DO_WEBHOOK, parte: 'o segredo novo, esta única vez' },
  ensaiarWebhook: { ...DO_WEBHOOK, parte: 'um aviso de ensaio no seu endereço' },
  listarEntregas: { ...DO_WEBHOOK, parte: 'o que se avisou, e o que houve em cada tentativa' },
  criarAmbiente: { ...PUBLICO, estranho: 'um ambiente só seu', custo: 'um documento; e tantos por dia' },
  consultarAmbiente: { ...DO_ENSAIO, parte: 'o ambiente' },
  alterarAmbiente: { ...DO_ENSAIO, parte: 'o ambiente mudado' },
  reiniciarAmbiente: { ...DO_ENSAIO, parte: 'o ambiente como novo' },
  descartarAmbiente: { ...DO_ENSAIO, parte: 'que foi jogado fora' },
  importarCadastro: { ...DO_ENSAIO, parte: 'o que se gravou' },
  listarPersonas: { ...DO_ENSAIO, parte: 'as personas' },
  documentoDaPersona: { ...DO_ENSAIO, parte: 'o documento de um cenário' },
  listarRequisicoes: { ...DO_ENSAIO, parte: 'as últimas requisições' },
  consultarRequisicao: { ...DO_ENSAIO, parte: 'uma delas, com o corpo e a resposta' },
  reenviarEntregas: { ...DO_WEBHOOK, parte: 'quantas entregas se tentam de novo' },
};

const DAS_ROTAS: Readonly<Record<string, Acesso>> = { ...DAS_NOTAS, ...DAS_PARTES };

const DO_PORTO: Readonly<Record<(typeof OPERACOES)[number]['operacao'], Acesso>> = {
  RecepcionarLoteRps: {
    quem: `${PRESTADOR_ASSINA} do lote, ou de cada RPS`,
    revela: 'nada',
    estranho: 'só o que está errado na assinatura que enviou',
    parte: 'o protocolo do lote',
    custo: 'uma assinatura',
  },
  ConsultarSituacaoLoteRps: { ...POR_LOTE, parte: 'a situação do lote' },
  ConsultarLoteRps: { ...POR_LOTE, parte: 'as notas do lote, ou o que o recusou' },
  ConsultarNfsePorRps: {
    ...PELO_CERTIFICADO,
    estranho: 'que não é ele; não se olha se há nota',
    parte: 'a nota do RPS',
  },
  ConsultarNfse: { ...PELO_CERTIFICADO, estranho: 'que não é ele; não se olha se há notas', parte: 'as suas notas' },
  CancelarNfse: {
    quem: `${PRESTADOR_ASSINA} da nota`,
    revela: 'nada',
    estranho: 'só o que está errado na assinatura que enviou',
    parte: 'o cancelamento',
    custo: 'uma assinatura',
  },
};

const DOCUMENTACAO: Acesso = { ...PUBLICO, estranho: 'a documentação, igual para todos' };

/** Addresses outside any municipality, by their path. */
const DO_SERVICO: Readonly<Record<string, Acesso>> = {
  '/': DOCUMENTACAO,
  '/health/live': { ...PUBLICO, estranho: 'que o serviço está de pé' },
  '/health/ready': {
    ...PUBLICO,
    estranho: 'se o serviço pode atender agora',
    parte: 'da própria máquina, sem proxy: de que municípios faltam arquivos nela',
  },
  [ERROS_PATH]: DOCUMENTACAO,
  [ERROS_JSON_PATH]: DOCUMENTACAO,
  [DOCS_PATH]: DOCUMENTACAO,
  [`${DOCS_PATH}/`]: DOCUMENTACAO,
  [BUSCA_PATH]: DOCUMENTACAO,
  [BUSCA_JSON_PATH]: DOCUMENTACAO,
  [SCRIPT_PATH]: DOCUMENTACAO,
  [`${DOCS_PATH}/:pagina`]: DOCUMENTACAO,
  [ENSAIO_PATH]: DOCUMENTACAO,
  [CONFERIR_PATH]: DOCUMENTACAO,
  [MIGRAR_PATH]: DOCUMENTACAO,
  [`${ARQUIVOS_PATH}/:arquivo`]: DOCUMENTACAO,
  [REFERENCE_PATH]: DOCUMENTACAO,
  [`${REFERENCE_PATH}/:arquivo`]: DOCUMENTACAO,
  [OPENAPI_PATH]: DOCUMENTACAO,
  [`${ERROS_PATH}/:codigo`]: DOCUMENTACAO,
};

/** Pages for people outside the documentation, by the name of the row. */
const PAGINAS: Readonly<
  Record<string, { readonly endereco: string; readonly acesso: Acesso; readonly missCost?: number }>
> = {
  conferirDocumento: {
    endereco: `POST ${CONFERIR_PATH}`,
    acesso: {
      ...PUBLICO,
      estranho:
        'o que está errado no documento que enviou e os seus valores, pelo ambiente de integração; nada se guarda',
      custo: 'um documento do limite do ambiente de integração',
    },
  },
  migrarDocumento: {
    endereco: `POST ${MIGRAR_PATH}`,
    acesso: {
      ...PUBLICO,
      estranho:
        'o que muda no documento que enviou, e o que está errado nele, pelo ambiente de integração; nada se guarda',
      custo: 'um documento do limite do ambiente de integração',
    },
  },
  fazerAmbiente: {
    endereco: `POST ${ENSAIO_PATH}`,
    acesso: { ...PUBLICO, estranho: 'um ambiente só seu', custo: 'tantos por dia' },
  },
  mostrarAmbiente: {
    endereco: `GET ${ENSAIO_PATH}/:ambiente`,
    acesso: { ...DO_ENSAIO, parte: 'o ambiente, as personas e as últimas requisições' },
  },
  agirNoAmbiente: {
    endereco: `POST ${ENSAIO_PATH}/:ambiente`,
    acesso: { ...DO_ENSAIO, parte: 'o que o botão faz' },
  },
  mostrarRequisicao: {
    endereco: `GET ${ENSAIO_PATH}/:ambiente/requisicoes/:requisicao`,
    acesso: { ...DO_ENSAIO, parte: 'uma das últimas requisições' },
  },
  mostrarCadastro: {
    endereco: `GET ${ENSAIO_PATH}/:ambiente/cadastros/:cadastro`,
    acesso: { ...DO_ENSAIO, parte: 'as linhas de um cadastro' },
  },
  encherCadastro: {
    endereco: `POST ${ENSAIO_PATH}/:ambiente/cadastros/:cadastro`,
    acesso: { ...DO_ENSAIO, parte: 'o que se gravou' },
  },
  baixarCadastro: {
    endereco: `GET ${ENSAIO_PATH}/:ambiente/cadastros/:cadastro/csv`,
    acesso: { ...DO_ENSAIO, parte: 'o cadastro em CSV' },
  },
  mostrarNotaAoTomador: {
    endereco: `GET ${CONSULTA_PATH}`,
    acesso: { ...POR_CHAVE, parte: 'se a nota vale, de quem é e a quem, com o CPF mascarado, e os valores' },
    missCost: 1,
  },
  mostrarBalcao: {
    endereco: `GET ${BALCAO_PATH}`,
    acesso: {
      ...PUBLICO,
      estranho: 'o formulário, e onde se emite; que o município existe, o nome já diz',
    },
  },
  procurarNota: {
    endereco: `POST ${BALCAO_PATH}`,
    acesso: {
      quem: 'quem tem a chave de acesso; ou o número, o CNPJ ou CPF do prestador e o valor',
      revela: 'existencia',
      estranho:
        'se há nota com o número, o prestador e o valor que disse, se vale, e o serviço; nem a chave, nem nada do tomador; o que não confere responde como o que não há',
      parte: 'com a chave, a página da nota',
    },
    missCost: 1,
  },
};

const DESCRICAO_DO_PORTO: Acesso = { ...PUBLICO, estranho: 'a descrição do porto, igual para todos' };
const CATALOGO: Acesso = { ...PUBLICO, estranho: 'a lista, nacional ou do município; nada de prestador nenhum' };

export type Endereco = {
  /** Name of the operation, or the path if it has no name. */
  readonly id: string;
  /** `POST /{municipio}/api/v1/…` */
  readonly endereco: string;
  readonly acesso: Acesso;
  readonly custo: string;
};

/** The HTTP door's data about itself. */
export type GuardedDoor = {
  readonly routes: readonly DescribedRoute[];
  /** Path of the legacy port below a municipality. */
  readonly soapPath: string;
  /** Requests without a result that one network address may send in a minute. */
  readonly missesMax: number;
};

/** Every address with its row. `servico`: the paths of the door outside a municipality. */
export function listAddresses(
  { routes, soapPath, missesMax }: GuardedDoor,
  servico: readonly string[] = Object.keys(DO_SERVICO),
): readonly Endereco[] {
  const addressOf = (id: string, address: string, acesso: Acesso | undefined, missCost?: number): Endereco => {
    if (acesso === undefined) throw new RangeError(`Who may ask ${id} is said nowhere: add its row to security.ts`);
    return { id, endereco: writeBraces(address), acesso, custo: custoOf(acesso, missCost, missesMax) };
  };
  const porto = `/:municipio${soapPath}`;
  const all = [
    ...routes.map((route) => {
      const acesso = ownOf(DAS_ROTAS, route.id) ?? (isCatalogo(route) ? CATALOGO : undefined);
      return addressOf(route.id, `${route.method} /:municipio${route.path}`, acesso, route.missCost);
    }),
    ...OPERACOES.map(({ operacao }) => {
      const missCost = operacao.startsWith('Consultar') ? 1 : undefined;
      return addressOf(operacao, `POST ${porto} ${operacao}`, DO_PORTO[operacao], missCost);
    }),
    addressOf(porto, `GET ${porto}`, DESCRICAO_DO_PORTO),
    ...Object.entries(PAGINAS).map(([id, { endereco, acesso, missCost }]) => addressOf(id, endereco, acesso, missCost)),
    ...servico.map((path) => addressOf(path, `GET ${path}`, ownOf(DO_SERVICO, path))),
  ];
  const left = [...Object.keys(DAS_ROTAS), ...Object.keys(DO_SERVICO)].filter(
    (id) => !all.some((one) => one.id === id),
  );
  if (left.length > 0) throw new RangeError(`No address for the row of ${left.join(', ')}`);
  return all;
}

function isCatalogo({ path, isPublic }: DescribedRoute): boolean {
  return isPublic === true && path.startsWith('/api/v1/catalogo/');
}

/** The cost, to the network address, of an answer without a result or of one to a stranger (D-40). */
function custoOf({ custo }: Acesso, missCost: number | undefined, missesMax: number): string {
  if (custo !== undefined) return custo;
  if (missCost === undefined) return 'nada';
  return `${String(missCost).replace('.', ',')} de ${missesMax} por minuto`;
}

function accessTable(door: GuardedDoor): string {
  const rows = listAddresses(door).map(({ endereco, acesso: { quem, estranho, parte }, custo }) => [
    code(endereco),
    ...[quem, estranho, parte, custo],
  ]);
  const head = [
    'Endereço',
    'Quem pode perguntar',
    'O que um estranho fica sabendo',
    'O que a parte fica sabendo',
    'O que custa',
  ];
  return table(head, rows);
}

/** `docs/seguranca.md`, which is also a page of the documentation. */
export function securityMarkdown(door: GuardedDoor): string {
  return `# Segurança

Quem pode perguntar o quê, o que cada um fica sabendo, e o que se assina. Vale para a produção; no ambiente de integração ninguém se
identifica, nada é segredo, e nada do que está nele tem valor fiscal.

## Quem é quem

- **Parte** é quem assinou, ou mostra na conexão, o certificado do prestador, do tomador ou do intermediário da nota; o CNPJ se compara pela raiz.
- **A chave de acesso e os protocolos abrem o que nomeiam**: quem os tem é tratado como parte na consulta. A chave tem nove algarismos sorteados, e quem procura por
  tentativas recebe 429 ([Limites](site/limites.md#frequência)). Não publique a chave de uma nota: com ela se lê a nota inteira, com o CPF do tomador.
- **O que vê quem tem a chave**: a nota inteira, porque é dele. Os documentos (o XML, o JSON, o DANFSe) trazem o CPF inteiro, como a nota o traz; a página da nota, que se mostra e se manda a outros, e as telas do console o
  mascaram. Sem a chave, pelo número, pelo prestador e pelo valor, só se sabe se a nota vale: nada do tomador, nem o caminho para a nota inteira. No console o papel \`leitura\` abre os documentos de uma nota de cada vez, e muitas de uma vez só se exportam a partir do papel \`atendimento\`.
- **Um token** pergunta em nome de um CNPJ ou CPF, e nada mais: não emite, não registra, não pede outro ([Tokens](site/identidade.md)). Quem o tem lê as notas da parte, ou muda os endereços dela: guarde-o como uma senha, e revogue o que se perdeu.
- **Estranho** é todo o resto, também quem tem um certificado válido de outra pessoa.
- **A chave da nota de outro prestador**, posta no que se assina (a nota substituída da DPS, a substituta do evento), não se procura: a resposta é a mesma, exista a nota ou não. A nota emitida assim não espera pela outra, e nada muda na outra.
- O que é de um município não existe em outro: a chave, o protocolo ou a DPS de um é, no endereço do outro, o que não se encontra.

Diante de um estranho não se procura: a resposta sobre o que existe e sobre o que não existe é a mesma, e o trabalho também, de modo que nem o tempo as distingue. As
exceções estão na tabela.

## O que se assina diz para onde foi feito

Um documento assinado pode cair na mão de outro, que o envia a outro lugar. Por isso o lugar está dentro do que se assina:

| Documento | Município | Ambiente |
| --- | --- | --- |
| DPS em XML | \`cLocEmi\` (E403) | \`tpAmb\` (E0006) |
| DPS em JSON | \`municipio_emissor\`, obrigatório em produção (E002, E403) | \`tipo_ambiente\`, obrigatório em produção (E002, E0006) |
| evento | a chave de acesso, em \`chave_acesso\`, começa pelo município | a nota da chave existe num ambiente só |
| pedido de token | \`municipio\`, o do endereço | \`ambiente\` |
| RPS e cancelamento do porto SOAP | \`CodigoMunicipio\` do cancelamento; do lote, só a \`InscricaoMunicipal\`, onde o cadastro a tem | nenhum: o modelo da ABRASF não o traz |

## O que pode ser enviado de novo

- **Uma DPS com número** enviada de novo é recusada (E0014). **Sem número** ela seria outra nota a cada envio: um município novo a recusa (\`--exigir-numero\`).
- **Um evento cujo corpo não diz a nota** serviria em qualquer nota do mesmo autor: um município novo o recusa (\`--exigir-chave-no-evento\`); basta \`chave_acesso\`, ou
  \`numero_protocolo\`, no corpo. Na mesma nota, um evento que não teve efeito (recusado, retirado) pode ser enviado de novo por quem tenha o pedido assinado.
- Nos municípios criados antes dessas opções elas estão desligadas; \`nfse municipio mostrar\` diz, e como ligar.
- **Um pedido de token** assinado vale por ${PEDIDO_MAX_MINUTES} minutos, só para o que diz em \`acao\`, e dá um token uma vez só (409 depois). O de lista, repetido nesse tempo, mostra de novo a lista, sem segredos; o de revogação não muda mais nada.
- **Um lote de RPS** assinado serve de novo só com RPS que ainda não viraram nota. Ele não leva ambiente: não assine um
  lote, nem um cancelamento, para ensaiar.
- **O que se assina para validar serve para emitir**: quem tiver uma DPS assinada cujo número ainda não foi usado pode emiti-la. Valide na produção só o que vai emitir.
- **Uma \`Idempotency-Key\`** é de quem a usa, o prestador da DPS ou o autor do evento: nenhuma outra parte da nota a encontra, nem a gasta.

## O console

Atende numa porta só sua, e sob um nome só; outro nome recebe 421. Um estranho vê a entrada e nada mais: um login que não há, uma senha errada e uma conta bloqueada recebem a mesma resposta, no mesmo tempo, e seis tentativas num minuto param a entrada. Quem está
dentro recebe 404 do município em que não tem papel, exista ele ou não, e 403 do que pede outro papel; as duas coisas ficam na trilha. Um formulário só vale se vem de uma página do console aberta na mesma sessão. [Quem entra, e com que](site/painel.md).

## O que fica no registro

Uma linha por requisição: o número dela, que é o \`X-Request-Id\` da resposta; o endereço de rede de quem pediu, em \`client\` (com \`NFSE_TRUST_PROXY\`, o que o proxy diz); o método; a rota, sem os
valores; o status, o tempo e o município; os códigos do que foi recusado, em \`erro\`; o número da nota emitida, em \`nota\`, e do evento registrado, em \`evento\`. Uma sonda (\`/health/live\`, \`/health/ready\`) só é registrada no nível \`debug\`. Um \`X-Request-Id\` que venha na requisição não toma o lugar do nosso: fica ao lado, em \`client_request\`, se tem até 64 letras,
algarismos, \`.\`, \`_\` e \`-\`; não ponha nele dados pessoais. Corpo, documento, nome, chave de acesso e protocolo não são registrados.

## Os arquivos de chave do município

A chave privada, o \`.pfx\` e o arquivo da senha são só do usuário que executa o serviço (\`chmod 600\`). Um que outros usuários da máquina possam ler é avisado por \`municipio
criar\`, \`alterar\` e \`mostrar\`, e no registro.

## Quem tem o banco

Quem tem o endereço e a senha do banco (um \`DATABASE_URL\` que vazou) lê tudo o que está nele e escreve o que quiser. O que não pode é fazer o serviço dizer que nada mudou: \`nfse auditoria verificar\` confere a
[corrente de auditoria](site/auditoria.md), cujas entradas são autenticadas por uma chave que não está no banco. Cada linha desta tabela é tentada por um teste, em todas as tabelas a que se aplica:

${comOBancoTable()}

- **A chave** é o arquivo \`auditoria.chave\`, em \`NFSE_DATA_DIR\` da máquina que serve. Com o banco embutido, quem roda SQL como a conta do servidor lê os arquivos dessa conta: a chave só é de outro quando o serviço roda
  como root, ou o banco é outra máquina ou outra conta.
- **Quem tem a chave também**, ou roda código no serviço, faz entradas que conferem: dele só se sabe por um selo guardado fora.
- **Uma conta do console posta por SQL** entra como quem ela diz ser; o que ela faz fica na trilha, com esse nome.
- **Código posto no banco** (um gatilho) muda o que o serviço grava e lê. \`verificar\` nomeia o gatilho, a regra, a política, a visão, a função ou o operador que lá está quando confere; de um que já se tirou, o que ele mudou na linha depois de contada é achado; o que a linha dizia quando foi contada, não.
- **O que ainda o encobre, com a chave e tudo**: o que a última coluna da tabela não acha; e quem manda no próprio servidor do banco (um módulo dele, o programa trocado), que responde o que quer a quem confere. O que só o selo acha pede que os selos se guardem fora.

## O que se tentou

Quem tinha o código aberto, e uma máquina para experimentar, tentou o que segue em 28 e 29/11/2026. A corrente de auditoria tem a sua tabela, acima.

${tentouMarkdown()}

## Endereço por endereço

A última coluna diz o que uma pergunta sem resultado, ou cuja resposta não é de quem pergunta, gasta da cota do seu endereço de rede: \`1 de 60 por minuto\`, ou
\`0,1\`, onde dez gastam o mesmo. Quem encontra o que é seu não gasta nada. Acabada a cota, só essas perguntas recebem 429, com \`Retry-After\`. «Uma assinatura»: quem não assina
nada pergunta. O que se envia, e o que se valida, tem [limites](site/limites.md#frequência) à parte.

${accessTable(door)}
`;
}
