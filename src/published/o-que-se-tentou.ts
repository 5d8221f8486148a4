/** Attacks that were tried on accounts, webhooks and copies, by kind; the security page shows them. */

type Especie = { readonly titulo: string; readonly tentou: readonly string[]; readonly emendou: readonly string[] };

const ESPECIES: readonly Especie[] = [
  {
    titulo: 'Contas e console',
    tentou: [
      'fazer antes a conta de alguém de outro município, e ficar com o papel que lhe dão depois',
      'tomar com o link de um município a conta que outro redefiniu; usar um link duas vezes, dois ao mesmo tempo, ou depois de trocado',
      'aceitar um papel com a sessão de outra conta, antiga ou encerrada no meio; deixar um município sem quem o administre',
      'trocar state, nonce, emissor ou navegador na volta do provedor de identidade, e repetir a volta; forjar o ID token',
      'fixar uma sessão; repetir, disputar ou adivinhar um código; usar a passkey de outra conta, de outra origem, ou um desafio duas vezes',
      'saber pela resposta ou pelo tempo se um login existe; trancar o dono de um login a partir de muitas redes',
      'pôr HTML em nomes, motivos e endereços; enviar formulários de outra origem, ou com o token de outra sessão; chegar por outro nome',
      'gastar um direito, ou um limite, por centenas de requisições ao mesmo tempo',
    ],
    emendou: [
      'um formulário começado antes de a conta ser bloqueada agia depois',
      'um link de outro site fazia aceitar um papel pelo provedor',
      'quem tinha o papel de leitura enchia o histórico de um município',
      'uma sessão se renovava, e trocava o segundo fator, só com o cookie',
      'uma oferta mostrava a outra prefeitura quem fez a conta, e como ela entra',
    ],
  },
  {
    titulo: 'Avisos (webhooks)',
    tentou: [
      'levar um aviso para dentro da rede: IPv4 e IPv6 em todas as formas, NAT64, 6to4, Teredo, zonas, metadados de nuvem, nomes que mudam de endereço',
      'seguir desvios, porta 0, socket local, proxy do ambiente; pôr cabeçalhos pelo endereço ou pelo documento',
      'provar um endereço alheio com um status, com o eco do pedido, ou provar um nome e apontá-lo depois a outro',
      'usar as perguntas como canhão contra um nome ou um endereço, também com muitos nomes para um só',
      'responder sem fim, aos pingos, com cabeçalhos ou 1xx sem fim; achar o segredo em página, histórico ou registro',
      'ler, mudar ou ensaiar o endereço de outro; repetir um aviso assinado, ou trocar-lhe o corpo',
    ],
    emendou: [
      'um só token inventava donos por filiais, e parava para todos um destino partilhado',
      'um dono com muitos endereços num destino lento ficava com todos os lugares dele',
    ],
  },
  {
    titulo: 'Cópias',
    tentou: [
      'pôr na cópia código que rode ao abri-la: gatilhos de evento e de linha, regras, visões, colunas geradas, valores padrão, domínios, agregados, extensões, linguagens, servidores de fora, ajustes de papéis e de bancos, bibliotecas',
      'mudar no lugar as linhas do próprio PostgreSQL, de modo que uma função de nome comum traga código; pôr outro banco ao lado',
      'mudar um byte da base, do manifesto ou de um pedaço do log; tirar um pedaço do meio; trocar pedaços de lugar',
      'dizer no manifesto caminhos para fora da pasta, números enormes, ligações simbólicas',
    ],
    emendou: ['linhas do catálogo, bancos ao lado, manifesto e pedaços do log sem autor'],
  },
];

const list = (items: readonly string[]): string =>
  items
    .map((one) => `- ${one};`)
    .join('\n')
    .replace(/;$/, '.');

/** Markdown: one section per kind. */
export function tentouMarkdown(): string {
  return ESPECIES.map(
    ({ titulo, tentou, emendou }) =>
      `### ${titulo}\n\nTentou-se, e não se conseguiu:\n\n${list(tentou)}\n\nO que se conseguiu antes, foi emendado e tem um teste:\n\n${list(emendou)}`,
  ).join('\n\n');
}
