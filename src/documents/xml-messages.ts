/** The messages of libxml2 for a refused document, in words for people. */
import { quoted } from '../fiscal/fault.ts';

/** Messages about XML that may be well-formed and that libxml2 does not read. */
export const PARSER_LIMITS = /^(?:Excessive depth|Name too long|Unsupported encoding)/;

/** A sentence about a document. `ofDps`: an addition for the sender of a DPS alone. */
export type XmlSentence = { readonly mensagem: string; readonly ofDps?: string };

/** The namespace of a DPS, added to a message about another one. */
export const DPS_NAMESPACE = 'o da DPS é http://www.sped.fazenda.gov.br/nfse';

/** A message of libxml2 in the words of the person who must correct the document. An unknown one is quoted. */
export function translateMessage(message: string): XmlSentence {
  const plain = message.trim();
  for (const [pattern, say, ofDps] of MESSAGES) {
    const match = pattern.exec(plain);
    if (match === null) continue;
    const mensagem = say.replace(/\$(\d)/g, (_, group) => quoted(match[Number(group)] ?? ''));
    return ofDps === undefined ? { mensagem } : { mensagem, ofDps };
  }
  return { mensagem: `o documento não é XML bem formado (${quoted(plain.split('\n', 1)[0]!)}).` };
}

const MESSAGES: readonly (readonly [pattern: RegExp, say: string, ofDps?: string])[] = [
  [/^Document is empty/, 'o corpo está vazio.'],
  [
    /^Start tag expected/,
    'o corpo não começa com um elemento XML.',
    'envie o documento DPS, sem gzip nem Base64 em volta',
  ],
  [/^Premature end of data in tag (\S+) line (\d+)/, 'o documento acaba antes de fechar <$1>, aberto na linha $2.'],
  [/^Opening and ending tag mismatch: (\S+) line (\d+) and (\S+)/, '<$1>, aberto na linha $2, é fechado por </$3>.'],
  [/^xmlParseEntityRef: no name/, 'há um & solto; dentro de texto escreva &amp;.'],
  [/^EntityRef: expecting ';'/, 'há um & que não forma uma entidade; dentro de texto escreva &amp;.'],
  [/^Entity '([^']+)' not defined/, 'a entidade &$1; não existe em XML; use o próprio caractere ou &#código;.'],
  [/^StartTag: invalid element name/, 'há um < que não inicia um elemento; dentro de texto escreva &lt;.'],
  [/^Attribute (\S+) redefined/, 'o atributo $1 aparece duas vezes no mesmo elemento.'],
  [/^AttValue: " or ' expected/, 'o valor do atributo deve vir entre aspas.'],
  [/^Extra content at the end of the document/, 'há conteúdo depois do fim do elemento raiz; envie um só documento.'],
  [/^Unsupported encoding:? ?(.*)$/, 'a codificação $1 não é conhecida; envie em UTF-8.'],
  [
    /^Invalid bytes in character encoding/,
    'há bytes que não são da codificação declarada; grave o arquivo em UTF-8 ou declare a codificação certa em <?xml encoding="…"?>.',
  ],
  [
    /^Input is not proper UTF-8/,
    'há bytes que não são UTF-8; grave o arquivo em UTF-8 ou declare a codificação certa.',
  ],
  [
    /^Namespace prefix (\S+)(?: for (\S+))? on (\S+) is not defined/,
    'o prefixo $1 de $3 não foi declarado com xmlns:$1.',
  ],
  [/^PCDATA invalid Char value (\d+)/, 'há um caractere de controle (código $1), que XML não admite; retire-o.'],
  [
    /^XML declaration allowed only at the start/,
    'há espaço ou linha antes de <?xml …?>; a declaração deve ser o primeiro caractere.',
  ],
  [/^Double hyphen within comment/, 'há -- dentro de um comentário.'],
  [/^Excessive depth/, 'há elementos aninhados demais.'],
  [/^Name too long/, 'há um nome comprido demais.'],
  [/^Comment not terminated/, 'um comentário não é fechado com -->.'],
  [/^CData section not finished/, 'uma seção CDATA não é fechada com ]]>.'],
  [/^ParsePI: PI (\S+) never end/, 'a instrução <?$1 não é fechada com ?>.'],
  [/^Sequence ']]>' not allowed/, 'há ]]> solto; dentro de texto escreva ]]&gt;.'],
  [/^Unescaped '<' not allowed/, 'há um < no valor de um atributo; escreva &lt;.'],
  [/^Specification mandates value for attribute (\S+)/, 'o atributo $1 não tem valor; escreva $1="…".'],
  [/^Namespaced Attribute (\S+) in .* redefined/, 'o atributo $1 aparece duas vezes no mesmo elemento.'],
  [/^error parsing attribute name/, 'há na tag algo que não é atributo; confira se ela é fechada com >.'],
  [/^attributes construct error/, 'falta um espaço entre dois atributos, ou uma aspa.'],
  [/^Couldn't find end of Start Tag (\S+)/, 'a tag <$1 não é fechada com >.'],
  [/^expected '>'/, 'falta fechar uma tag com >.'],
  [/^(\S+): Empty XML namespace is not allowed/, 'a declaração $1 está vazia; um prefixo precisa de um endereço.'],
  [/^(xmlns\S*): '([\s\S]*?)' is not a valid URI/, 'o endereço "$2" em $1 não é válido.', DPS_NAMESPACE],
  [/^xml namespace URI|^reuse of the xmlns/, 'um espaço de nomes reservado de XML foi declarado com outro prefixo.'],
  [/^Failed to parse QName '([^']+)'/, 'o nome $1 tem dois-pontos onde não pode.'],
  [
    /^xmlParseCharRef: invalid xmlChar value (\d+)/,
    'há uma referência a um caractere (código $1) que XML não admite; retire-a.',
  ],
  [/^xmlParseCharRef/, 'há uma referência &#…; que não é de nenhum caractere.'],
  [/^Invalid character: Char 0x(\w+)/, 'há um caractere (código $1, hexadecimal) que XML não admite; retire-o.'],
  [/^Blank needed here/, 'falta um espaço, ou os bytes não são da codificação que <?xml …?> declara.'],
];
