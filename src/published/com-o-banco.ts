/**
 * Attacks with access to the database (its address and password), and the verification of the audit chain that finds each.
 * `src/subjects/auditoria/auditoria-colunas.test.ts` runs each of them and compares the answers with the rows.
 */
import { table } from './markdown.ts';

/** The means that finds the attack: the chain alone; the key of the service; a seal kept elsewhere; none. */
type AchadoPor = 'corrente' | 'chave' | 'selo' | 'nada';

const ACHA: Readonly<Record<AchadoPor, readonly [semChave: string, comChave: string, comSelo: string]>> = {
  corrente: ['acha', 'acha', 'acha'],
  chave: ['não acha', 'acha', 'acha'],
  selo: ['não acha', 'não acha', 'acha'],
  nada: ['não acha', 'não acha', 'não acha'],
};

/** The attacks by name, in the order of the page. */
export const COM_O_BANCO = {
  mudar: ['mudar uma coluna contada', 'corrente'],
  apagar: ['apagar uma linha', 'corrente'],
  inserir: ['pôr uma linha', 'corrente'],
  inserirNota: ['pôr uma nota, com uma entrada que a conta', 'chave'],
  contarFixo: [
    'mudar o que nunca muda (nota, documentos, históricos, atos, documentos de eventos e lotes, selos) e pôr uma entrada que o conta como ficou',
    'corrente',
  ],
  contarMovel: [
    'o mesmo do que muda (situação da nota, evento, lote, município, cadastros, tokens, avisos, arquivos, retenções)',
    'chave',
  ],
  apagarContado: [
    'apagar o que não se apaga, ou só com o mês ou por um ato, e pôr uma entrada que o diz apagado',
    'corrente',
  ],
  apagarComAto: ['apagar uma linha de um cadastro, e pôr o ato que o diz e as entradas dos dois', 'chave'],
  apagarLivre: ['apagar um token, um endereço de aviso ou uma importação, e pôr uma entrada que o diz', 'chave'],
  aceite: ['mudar uma nota e pôr o ato que aceita o achado', 'corrente'],
  aceiteContado: ['o mesmo, e uma entrada que conta esse ato', 'chave'],
  entrada: ['mudar, tirar ou trocar de lugar uma entrada', 'corrente'],
  duasCorrentes: ['pôr duas entradas no mesmo lugar', 'corrente'],
  repetir: ['pôr outra vez, com outro nome, uma entrada que o serviço fez', 'chave'],
  deOutro: ['pôr na corrente de um município a entrada que o serviço fez para outro', 'chave'],
  refazer: ['tirar uma nota com as suas entradas, e refazer os elos até o fim', 'chave'],
  refazerEsperar: ['o mesmo, e esperar pela entrada seguinte, com a qual o serviço autentica o fim que acha', 'chave'],
  semLugares: ['o mesmo, e tirar antes o autenticador do fim e os dos lugares', 'chave'],
  lugaresDeNovo: [
    'tirar uma nota com as suas entradas, e o lugar de todas as outras, que o serviço então dá de novo',
    'chave',
  ],
  semChave: [
    'mudar uma linha que muda, pôr uma entrada que a conta, e tirar o autenticador de todas as entradas, dos lugares e do fim',
    'chave',
  ],
  semChaveAntes: ['o mesmo, dizer que são todas de antes da chave, e refazer os elos', 'chave'],
  outraChave: ['o mesmo, com os autenticadores de uma chave que ninguém tem', 'chave'],
  migracoes: [
    'mudar uma linha que muda, pôr uma entrada que a conta, e dizer em migracoes que a atualização é de agora',
    'chave',
  ],
  esconder: [
    'pôr uma política, uma visão, uma regra, uma função, um operador ou um esquema, que esconde de quem confere a linha que o serviço lê, enquanto está lá',
    'corrente',
  ],
  gatilho: ['pôr um gatilho que muda o que o serviço grava, enquanto está lá', 'corrente'],
  cortar: ['voltar a corrente e as linhas, juntas, a um fim que a corrente já teve', 'selo'],
  recomecar: [
    'mudar o que se queira, e apagar a corrente inteira com os selos, que o serviço então começa de novo',
    'chave',
  ],
  recomecarNota: [
    'o mesmo, com uma coluna da nota que a NFS-e guardada diz (partes, valores, datas, números)',
    'corrente',
  ],
  reabrir: ['fazer o serviço contar outra vez o que havia antes da corrente', 'corrente'],
  antesDoServico: [
    'mudar uma linha que muda pouco antes de o próprio serviço gravar nela: ele conta a linha inteira, como a acha',
    'nada',
  ],
  antesDoLugar: [
    'tirar ou trocar de ordem uma entrada no segundo em que ainda não tem lugar (enquanto o serviço está parado, também depois), e pôr as linhas como eram',
    'nada',
  ],
  naoContado: [
    'mudar o que a corrente não conta: contas e papéis do console, alíquotas do IBS e da CBS, filas, contagens, o que se guarda para desfazer a última importação',
    'nada',
  ],
} as const satisfies Readonly<Record<string, readonly [oQue: string, AchadoPor]>>;

export type ComOBanco = keyof typeof COM_O_BANCO;

export function achadoPor(name: ComOBanco): AchadoPor {
  return COM_O_BANCO[name][1];
}

export function comOBancoTable(): string {
  return table(
    ['O que tenta', 'A corrente, sem chave', 'Com a chave', 'Com a chave e um selo de antes, guardado fora'],
    Object.values(COM_O_BANCO).map(([oQue, por]) => [oQue, ...ACHA[por]]),
  );
}
