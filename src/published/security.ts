/**
 * The access rules of each address of each door: a route brings its own, and the others have a row here. `docs/seguranca.md` is made of
 * them. `test/seguranca.test.ts` asks each address as a stranger, as a party and as a party of another municipality. It compares the
 * answers with the rules.
 *
 * The rules state the behaviour of production. An address without a rule, or a row without an address, is an error.
 */

import { ownOf } from '../fiscal/own.ts';
import { OPERACOES } from '../subjects/lotes/porto.ts';
import { PEDIDO_MAX_MINUTES } from '../subjects/partes/tokens.ts';
import { type Acesso, DO_ENSAIO, POR_CHAVE, PRESTADOR_ASSINA, PUBLICO } from './acesso.ts';
import { comOBancoTable } from './com-o-banco.ts';
import { code, table, writeBraces } from './markdown.ts';
import { tentouMarkdown } from './o-que-se-tentou.ts';
import type { DescribedRoute } from './openapi/described.ts';
import {
  ARQUIVOS_PATH,
  BALCAO_PATH,
  BRASAO_PATH,
  BUSCA_JSON_PATH,
  BUSCA_PATH,
  CONFERIR_PATH,
  CONSULTA_PATH,
  DOCS_PATH,
  ENSAIO_PATH,
  ERROS_JSON_PATH,
  ERROS_PATH,
  FAVICON_PATH,
  FEED_PATH,
  LLMS_PATH,
  MARKDOWN_END,
  MIGRAR_PATH,
  OPENAPI_PATH,
  REFERENCE_PATH,
  ROBOTS_PATH,
  SCRIPT_PATH,
  SECURITY_PATH,
} from './paths.ts';

const POR_LOTE: Omit<Acesso, 'parte'> = {
  quem: 'quem tem o protocolo do lote e o CNPJ',
  revela: 'chave',
  estranho: 'nada: sem o protocolo, 20 dígitos sorteados, não se encontra lote (E86)',
};
const PELO_CERTIFICADO: Pick<Acesso, 'quem' | 'revela'> = {
  quem: 'o próprio prestador, pelo certificado na conexão (`--consulta-dps`)',
  revela: 'nada',
};

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
  [`${DOCS_PATH}${MARKDOWN_END}`]: DOCUMENTACAO,
  [LLMS_PATH]: DOCUMENTACAO,
  [FEED_PATH]: DOCUMENTACAO,
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
  [SECURITY_PATH]: { ...PUBLICO, estranho: 'a quem avisar de uma falha de segurança, onde quem opera o diz' },
  [ROBOTS_PATH]: DOCUMENTACAO,
  [FAVICON_PATH]: DOCUMENTACAO,
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
  mostrarBrasao: {
    endereco: `GET ${BRASAO_PATH}`,
    acesso: { ...PUBLICO, estranho: 'o brasão do município, que está nas páginas públicas dele' },
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

const DESCRICAO_DO_PORTO: Acesso = { ...PUBLICO, estranho: 'a descrição do serviço SOAP, igual para todos' };

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
    if (acesso === undefined)
      throw new RangeError(`Who may ask ${id} is said nowhere: add its acesso, or its row to security.ts`);
    return { id, endereco: writeBraces(address), acesso, custo: custoOf(acesso, missCost, missesMax) };
  };
  const porto = `/:municipio${soapPath}`;
  const all = [
    ...routes.map(({ id, method, path, acesso, missCost }) =>
      addressOf(id, `${method} /:municipio${path}`, acesso, missCost),
    ),
    ...OPERACOES.map(({ operacao }) => {
      const missCost = operacao.startsWith('Consultar') ? 1 : undefined;
      return addressOf(operacao, `POST ${porto} ${operacao}`, DO_PORTO[operacao], missCost);
    }),
    addressOf(porto, `GET ${porto}`, DESCRICAO_DO_PORTO),
    ...Object.entries(PAGINAS).map(([id, { endereco, acesso, missCost }]) => addressOf(id, endereco, acesso, missCost)),
    ...servico.map((path) => addressOf(path, `GET ${path}`, ownOf(DO_SERVICO, path))),
  ];
  const left = Object.keys(DO_SERVICO).filter((id) => !all.some((one) => one.id === id));
  if (left.length > 0) throw new RangeError(`No address for the row of ${left.join(', ')}`);
  return all;
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
- **A chave de acesso e os protocolos abrem o que nomeiam**: quem os tem é tratado como parte na consulta. A chave tem nove dígitos sorteados, e quem procura por
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
| RPS e cancelamento do serviço SOAP | \`CodigoMunicipio\` do cancelamento; do lote, só a \`InscricaoMunicipal\`, onde o cadastro a tem | nenhum: o modelo da ABRASF não o traz |

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
dentro recebe 404 do município em que não tem papel, exista ele ou não, e 403 do que pede outro papel; as duas coisas ficam no histórico. Um formulário só vale se vem de uma página do console aberta na mesma sessão. [Quem entra, e com que](site/painel.md).

## O que fica no registro

Uma linha por requisição: o número dela, que é o \`X-Request-Id\` da resposta; o endereço de rede de quem pediu, em \`client\` (com \`NFSE_TRUST_PROXY\`, o que o proxy diz); o método; a rota, sem os
valores; o status, o tempo e o município; os códigos do que foi recusado, em \`erro\`; o número da nota emitida, em \`nota\`, e do evento registrado, em \`evento\`. Uma sonda (\`/health/live\`, \`/health/ready\`) só é registrada no nível \`debug\`. Um \`X-Request-Id\` que venha na requisição não toma o lugar do nosso: fica ao lado, em \`client_request\`, se tem até 64 letras,
dígitos, \`.\`, \`_\` e \`-\`; não ponha nele dados pessoais. Corpo, documento, nome, chave de acesso e protocolo não são registrados.

## Os arquivos de chave do município

A chave privada, o \`.pfx\` e o arquivo da senha são só do usuário que executa o serviço (\`chmod 600\`). Um que outros usuários da máquina possam ler é avisado por \`municipio
criar\`, \`alterar\` e \`mostrar\`, e no registro.

O \`.pfx\` que o administrador do município envia pelo console é aberto num processo só para isso. A senha não se guarda. O certificado e a chave ficam em PEM, sem cifra, em arquivos de modo 600 sob
\`certificados\`, em \`NFSE_DATA_DIR\` da máquina do console: uma senha ao lado do arquivo não o protegeria, e no banco a chave iria com cada cópia dele. Quem lê os arquivos da conta do serviço assina pelo município; quem tem
só o banco, ou uma cópia dele, não. O histórico diz quem enviou, testou, pôs em uso e apagou, sem a chave nem a senha. \`nfse municipio excluir\` apaga os da máquina em que corre: um município posterior do mesmo nome os acharia.

## Quem tem o banco

Quem tem o endereço e a senha do banco (um \`DATABASE_URL\` que vazou) lê tudo o que está nele e escreve o que quiser. O que não pode é fazer o serviço dizer que nada mudou: \`nfse auditoria verificar\` confere a
[corrente de auditoria](site/auditoria.md), cujas entradas são autenticadas por uma chave que não está no banco. Cada linha desta tabela é tentada por um teste, em todas as tabelas a que se aplica:

${comOBancoTable()}

- **A chave** é o arquivo \`auditoria.chave\`, em \`NFSE_DATA_DIR\` da máquina que serve. Com o banco embutido, quem roda SQL como a conta do servidor lê os arquivos dessa conta: a chave só é de outro quando o serviço roda
  como root, ou o banco é outra máquina ou outra conta.
- **Quem tem a chave também**, ou roda código no serviço, faz entradas que conferem: dele só se sabe por um selo guardado fora.
- **Uma conta do console posta por SQL** entra como quem ela diz ser; o que ela faz fica no histórico, com esse nome.
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
