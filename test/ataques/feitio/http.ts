/** Requests whose beginning, end or meaning two programs on the way may see differently; written byte by byte (RFC 9110 and 9112). */
import { exampleXml } from '../../../src/fiscal/rules/example.ts';
import { PROVIDER_CNPJ } from '../../support/signatures.ts';
import type { Ataque, Corpus, Parte, Veredito } from '../ataque.ts';
import { caso, recusa } from './caso.ts';
import { AGORA } from './mundo.ts';

const PATH = '/integracao/api/v1/nfse/v101';
const VIVO = 'GET /health/live HTTP/1.1\r\nHost: exemplo\r\nConnection: close\r\n\r\n';
const XML = 'Content-Type: application/xml';
const DPS: Parte = { parte: 'dps' };

/** A POST of XML with these header lines, and any bytes after them. */
const post = (lines: string, body: Parte): Parte => [
  `POST ${PATH} HTTP/1.1\r\nHost: exemplo\r\n${XML}\r\n${lines}\r\n\r\n`,
  body,
];
const get = (target: string, lines = ''): Parte =>
  `GET ${target} HTTP/1.1\r\nHost: exemplo\r\nConnection: close\r\n${lines}\r\n`;

const conexao = (nome: string, porque: string, bytes: Parte, veredito: Veredito): Ataque =>
  caso(nome, porque, { conexao: bytes }, veredito);
const ENCERRAR = 'Responder 400 e encerrar a conexão: o que vem depois não se sabe onde começa.';
const QUEBRADA = recusa('E003', ENCERRAR, undefined, 400);
const passa = (quer: string, ...status: number[]): Veredito => ({ aceita: true, status, codigos: [], quer });

function contrabando(): Ataque[] {
  return [
    conexao(
      'cl-e-te',
      'Content-Length e Transfer-Encoding juntos: um proxy acredita num, o serviço no outro, e o resto do corpo vira a requisição de alguém.',
      post('Content-Length: 4\r\nTransfer-Encoding: chunked', ['0\r\n\r\n', VIVO]),
      QUEBRADA,
    ),
    conexao(
      'te-e-cl',
      'Os mesmos dois, na outra ordem.',
      post('Transfer-Encoding: chunked\r\nContent-Length: 4', ['0\r\n\r\n', VIVO]),
      QUEBRADA,
    ),
    conexao(
      'te-desconhecido',
      'Uma codificação de transferência que ninguém conhece: onde acaba o corpo?',
      post('Transfer-Encoding: xchunked', ['0\r\n\r\n', VIVO]),
      QUEBRADA,
    ),
    conexao(
      'te-que-nao-acaba-em-chunked',
      'chunked que não é o último: o fim do corpo não se sabe.',
      post('Transfer-Encoding: chunked, identity', ['0\r\n\r\n', VIVO]),
      QUEBRADA,
    ),
    conexao(
      'te-com-espaco-antes-dos-dois-pontos',
      'Um espaço antes dos dois-pontos: um lê o cabeçalho, o outro não o acha.',
      post('Transfer-Encoding : chunked', ['0\r\n\r\n', VIVO]),
      QUEBRADA,
    ),
    conexao(
      'te-com-tabulacao-vertical',
      'Um caractere que não é espaço no valor: um o tira, o outro não.',
      post('Transfer-Encoding: \x0bchunked', ['0\r\n\r\n', VIVO]),
      QUEBRADA,
    ),
    conexao(
      'cabecalho-dobrado',
      'Um cabeçalho que continua na linha seguinte, que a norma manda recusar.',
      post('X-Nada: a\r\n Transfer-Encoding: chunked\r\nContent-Length: 0', VIVO),
      QUEBRADA,
    ),
    conexao(
      'cl-duas-vezes',
      'Dois Content-Length diferentes: cada um acredita no seu.',
      post('Content-Length: 0\r\nContent-Length: 40', VIVO),
      QUEBRADA,
    ),
    conexao('cl-com-virgula', 'Dois valores num Content-Length.', post('Content-Length: 0, 40', VIVO), QUEBRADA),
    conexao('cl-negativo', 'Um comprimento negativo.', post('Content-Length: -1', VIVO), QUEBRADA),
    conexao(
      'cl-com-sinal',
      'Um comprimento com sinal, que muitos leem como número.',
      post('Content-Length: +4', ['abcd', VIVO]),
      QUEBRADA,
    ),
    conexao('cl-hexadecimal', 'Um comprimento em hexadecimal.', post('Content-Length: 0x4', ['abcd', VIVO]), QUEBRADA),
    conexao(
      'cl-que-transborda',
      'Um comprimento que não cabe em 64 bits e dá a volta.',
      post('Content-Length: 18446744073709551620', ['abcd', VIVO]),
      QUEBRADA,
    ),
    conexao(
      'pedaco-que-transborda',
      'Um tamanho de pedaço que não cabe em 64 bits.',
      post('Transfer-Encoding: chunked', ['10000000000000004\r\nabcd\r\n0\r\n\r\n', VIVO]),
      QUEBRADA,
    ),
    conexao(
      'pedaco-com-0x',
      'Um tamanho de pedaço com 0x.',
      post('Transfer-Encoding: chunked', ['0x4\r\nabcd\r\n0\r\n\r\n', VIVO]),
      QUEBRADA,
    ),
    conexao(
      'pedaco-sem-fim-de-linha',
      'Um pedaço maior do que diz: o que sobra vira tamanho.',
      post('Transfer-Encoding: chunked', ['2\r\nabcd\r\n0\r\n\r\n', VIVO]),
      QUEBRADA,
    ),
    conexao(
      'pedaco-com-lf-so',
      'Um fim de linha só de LF no meio dos pedaços.',
      post('Transfer-Encoding: chunked', ['4\nabcd\n0\n\n', VIVO]),
      QUEBRADA,
    ),
    conexao(
      'cr-no-meio',
      'Um CR sozinho num cabeçalho: há quem o tome por fim de linha.',
      post('X-Nada: a\rContent-Length: 40\r\nContent-Length: 0', VIVO),
      QUEBRADA,
    ),
    conexao(
      'nulo-no-cabecalho',
      'Um byte zero num valor: quem lê em C para nele.',
      post('X-Nada: a\0b\r\nContent-Length: 0', VIVO),
      QUEBRADA,
    ),
    conexao(
      'sem-host',
      'HTTP/1.1 sem Host: de quem é o pedido?',
      'GET /health/live HTTP/1.1\r\nConnection: close\r\n\r\n',
      QUEBRADA,
    ),
    conexao(
      'dois-hosts',
      'Dois Host: o proxy escolhe um, o serviço o outro.',
      'GET /health/live HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n',
      QUEBRADA,
    ),
    conexao(
      'dois-tipos',
      'Dois Content-Type: um filtro confere um, o serviço lê pelo outro.',
      post('Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close', [
        { parte: 'tamanho' },
        '\r\n',
        DPS,
        '\r\n0\r\n\r\n',
      ]),
      recusa('E003', 'Recusar: o corpo é de um tipo só.', 'Content-Type mais de uma vez', 400),
    ),
  ];
}

function formas(): Ataque[] {
  const nada = (codigo: string, status: number, quer: string): Veredito => recusa(codigo, quer, undefined, status);
  /** An address that is taken literally, and does not exist. */
  const naoAcha = (nome: string, porque: string, target: string): Ataque =>
    conexao(nome, porque, get(target), nada('E601', 404, 'Não achar: um caminho se lê como está.'));
  return [
    conexao('http-0-9', 'Uma linha sem versão, como em 1991.', 'GET /health/live\r\n\r\n', QUEBRADA),
    conexao(
      'http-2-sem-acordo',
      'O começo de HTTP/2 num serviço de HTTP/1.1.',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      QUEBRADA,
    ),
    conexao(
      'metodo-em-minusculas',
      'Métodos têm letras maiúsculas: «get» é outro.',
      'get /health/live HTTP/1.1\r\nHost: exemplo\r\nConnection: close\r\n\r\n',
      QUEBRADA,
    ),
    conexao(
      'metodo-inventado',
      'Um método que não existe.',
      'ATACAR /health/live HTTP/1.1\r\nHost: exemplo\r\nConnection: close\r\n\r\n',
      QUEBRADA,
    ),
    conexao(
      'tls-no-claro',
      'O começo de uma conexão TLS numa porta sem TLS.',
      [{ hex: '1603010200010001fc0303' }, { repete: 'a', vezes: 200 }, '\r\n\r\n'],
      QUEBRADA,
    ),
    conexao(
      'trace',
      'TRACE devolve os cabeçalhos, com o que um proxy pôs neles.',
      'TRACE /health/live HTTP/1.1\r\nHost: exemplo\r\nConnection: close\r\n\r\n',
      nada('E003', 405, 'Recusar: o método não é daqui.'),
    ),
    conexao(
      'connect',
      'CONNECT pede um túnel para a rede interna.',
      'CONNECT 169.254.169.254:80 HTTP/1.1\r\nHost: exemplo\r\n\r\n',
      nada('E003', 405, 'Recusar: não se é proxy de ninguém.'),
    ),
    conexao(
      'outro-metodo-por-cabecalho',
      'X-HTTP-Method-Override troca o método depois de conferido.',
      get('/health/live', 'X-HTTP-Method-Override: DELETE\r\n'),
      passa('Ler o método da linha, e só dela.', 200),
    ),
    conexao(
      'outro-endereco-por-cabecalho',
      'X-Original-URL e X-Rewrite-URL trocam o endereço depois de conferido.',
      get('/health/live', 'X-Original-URL: /integracao/api/v1/nfse/v101\r\nX-Rewrite-URL: /nada\r\n'),
      passa('Ler o endereço da linha, e só dela.', 200),
    ),
    conexao(
      'subida-a-h2c',
      'Upgrade: h2c abre, por trás do proxy, uma conexão que ele não vê.',
      'GET /health/live HTTP/1.1\r\nHost: exemplo\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n\r\n',
      passa('Ficar em HTTP/1.1.', 200),
    ),
    conexao(
      'subida-a-websocket',
      'Upgrade: websocket, onde não há nenhum.',
      'GET /health/live HTTP/1.1\r\nHost: exemplo\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n',
      passa('Ficar em HTTP/1.1.', 200),
    ),
    conexao(
      'espera-desconhecida',
      'Expect pede o que ninguém conhece.',
      post('Expect: cafe\r\nContent-Length: 0\r\nConnection: close', ''),
      nada('E003', 417, 'Recusar: não se cumpre o que não se conhece.'),
    ),
    conexao(
      'cabecalhos-demais',
      'Um cabeçalho de cem mil letras.',
      [
        'GET /health/live HTTP/1.1\r\nHost: exemplo\r\nConnection: close\r\nX-Nada: ',
        { repete: 'a', vezes: 100_000 },
        '\r\n\r\n',
      ],
      nada('E003', 431, 'Recusar por um limite declarado.'),
    ),
    conexao(
      'cabecalhos-aos-milhares',
      'Dez mil cabeçalhos pequenos.',
      [
        'GET /health/live HTTP/1.1\r\nHost: exemplo\r\nConnection: close\r\n',
        { repete: 'a{n}: 1\r\n', vezes: 10_000 },
        '\r\n',
      ],
      nada('E003', 431, 'Recusar por um limite declarado.'),
    ),
    conexao(
      'endereco-comprido',
      'Um endereço de dez mil letras.',
      ['GET /', { repete: 'a', vezes: 10_000 }, ' HTTP/1.1\r\nHost: exemplo\r\nConnection: close\r\n\r\n'],
      nada('E003', 414, 'Recusar por um limite declarado.'),
    ),
    naoAcha(
      'endereco-com-dois-pontos',
      'Um caminho que sobe (..), para fora do que o proxy conferiu.',
      '/integracao/../health/live',
    ),
    naoAcha('endereco-com-dois-pontos-escritos', 'O mesmo, escrito em %2e.', '/integracao/%2e%2e/health/live'),
    naoAcha('endereco-com-barra-dupla', 'Duas barras no começo: há quem leia um nome de servidor.', '//health/live'),
    naoAcha('endereco-com-nulo', 'Um byte zero escrito no endereço.', '/health/live%00.png'),
    conexao(
      'endereco-com-fim-de-linha',
      'Um fim de linha escrito no endereço, para sair num cabeçalho da resposta.',
      get('/health/live%0d%0aSet-Cookie:%20a=b'),
      nada('E601', 404, 'Não achar, e não pôr nada do pedido num cabeçalho.'),
    ),
    conexao(
      'endereco-inteiro',
      'O endereço com esquema e servidor, que um proxy escreve: não é um ataque.',
      'GET http://outro.exemplo/health/live HTTP/1.1\r\nHost: exemplo\r\nConnection: close\r\n\r\n',
      passa('Atender pelo caminho.', 200),
    ),
    conexao(
      'comprimido',
      'Um corpo comprimido: mil bytes que se abrem em um gigabyte.',
      post('Content-Encoding: gzip\r\nContent-Length: 0\r\nConnection: close', ''),
      nada('E003', 400, 'Recusar sem abrir.'),
    ),
    conexao(
      'duas-seguidas',
      'Duas requisições honestas numa conexão, uma atrás da outra: não é um ataque.',
      ['GET /health/live HTTP/1.1\r\nHost: exemplo\r\n\r\n', VIVO],
      passa('Responder às duas, na ordem.', 200, 200),
    ),
    conexao(
      'get-com-corpo',
      'Um GET com corpo: quem não o lê toma o corpo por outra requisição.',
      [
        'GET /health/live HTTP/1.1\r\nHost: exemplo\r\nContent-Length: 41\r\n\r\nGET /integracao/nada HTTP/1.1\r\nHost: a\r\n\r\n',
        VIVO,
      ],
      passa('Jogar o corpo fora, e responder só a duas.', 200, 200),
    ),
    conexao(
      'honesta',
      'Sem uma requisição que se aceita nenhuma recusa prova nada.',
      [post('Connection: close\r\nTransfer-Encoding: chunked', [{ parte: 'tamanho' }, '\r\n', DPS, '\r\n0\r\n\r\n'])],
      passa('Aceitar: pedaços são honestos.', 201),
    ),
  ];
}

export async function makeCorpus(): Promise<Corpus> {
  const dps = exampleXml();
  return {
    corpus: 'http',
    titulo: 'HTTP: contrabando e formas',
    sobre:
      'Requisições escritas byte a byte, de que dois programas no caminho podem não ver o mesmo começo, o mesmo fim ou o mesmo sentido. A conexão deve acabar com a última resposta.',
    agora: AGORA,
    prestador: PROVIDER_CNPJ,
    ancoras: [],
    partes: { dps, tamanho: Buffer.byteLength(dps).toString(16) },
    casos: [...contrabando(), ...formas()],
  };
}
