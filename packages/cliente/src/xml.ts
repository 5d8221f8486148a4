/**
 * The part of XML that a DPS needs, parsed strictly. Also the exclusive canonical form of an element (W3C, Exclusive
 * XML Canonicalization 1.0, without comments).
 *
 * The parser reads elements, attributes, namespaces, text, CDATA sections and character references. Comments,
 * processing instructions, document types, names beyond ASCII and encodings other than UTF-8 are refused with their
 * place.
 */

/** Um XML que este cliente não assina, e por quê. */
export class XmlRecusado extends Error {
  override readonly name = 'XmlRecusado';
}

type Atributo = { readonly prefixo: string; readonly nome: string; readonly valor: string };

export type Elemento = {
  readonly prefixo: string;
  readonly nome: string;
  readonly atributos: readonly Atributo[];
  /** Every prefix in force here, with its namespace; the empty prefix has the default namespace. */
  readonly escopo: ReadonlyMap<string, string>;
  readonly conteudo: readonly (Elemento | string)[];
};

/** The layout is far less deep. */
const DEPTH_MAX = 64;
const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace';
const NAME = /(?:([A-Za-z_][\w.-]*):)?([A-Za-z_][\w.-]*)/y;
const SPACE = /[ \t\n]+/y;
// Characters that XML 1.0 forbids, even as a reference.
const NO_CHARACTER = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

/** Lê o documento; o elemento é a sua raiz. */
export function lerXml(texto: string): Elemento {
  const text = texto.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n');
  const reader = new Reader(text);
  const strange = NO_CHARACTER.exec(text);
  if (strange !== null) throw reader.refusal('um caractere que o XML não admite', strange.index);
  return reader.document();
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  refusal(what: string, at = this.#at): XmlRecusado {
    const lines = this.#text.slice(0, at).split('\n');
    return new XmlRecusado(`linha ${lines.length}, coluna ${lines.at(-1)!.length + 1}: ${what}.`);
  }

  document(): Elemento {
    const declaration = /^<\?xml\s[^?]*\?>/.exec(this.#text)?.[0] ?? '';
    const encoding = /\sencoding\s*=\s*["']([\w.:-]+)["']/.exec(declaration)?.[1];
    if (encoding !== undefined && !/^utf-?8$/i.test(encoding)) {
      throw this.refusal(`o documento diz estar em ${encoding}, e só se assina UTF-8: converta-o e mude a declaração`);
    }
    this.#at = declaration.length;
    this.#skip();
    this.#noMarkup();
    const root = this.#element(new Map([['xml', XML_NAMESPACE]]), 1);
    this.#skip();
    this.#noMarkup();
    if (this.#at < this.#text.length) throw this.refusal('há conteúdo depois do elemento raiz');
    return root;
  }

  #skip(): boolean {
    return this.#match(SPACE) !== undefined;
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text) ?? undefined;
    if (found !== undefined) this.#at += found[0].length;
    return found;
  }

  #is(text: string): boolean {
    return this.#text.startsWith(text, this.#at);
  }

  #take(text: string, what: string): void {
    if (!this.#is(text)) throw this.refusal(what);
    this.#at += text.length;
  }

  #noMarkup(): void {
    if (this.#is('<!--')) throw this.refusal('há um comentário, que a assinatura não cobre; retire-o');
    if (this.#is('<?')) throw this.refusal('há uma instrução de processamento, que a assinatura não cobre; retire-a');
    if (this.#is('<!DOCTYPE')) throw this.refusal('há um DOCTYPE, que não se aceita em uma DPS; retire-o');
  }

  #element(outer: ReadonlyMap<string, string>, depth: number): Elemento {
    if (depth > DEPTH_MAX) throw this.refusal(`há mais de ${DEPTH_MAX} níveis de elementos`);
    const start = this.#at;
    this.#take('<', 'falta um elemento');
    const name = this.#match(NAME);
    if (name === undefined) throw this.refusal('o nome de um elemento não se lê');
    const [tag, prefixo = '', nome = ''] = name;
    const { escopo, atributos } = this.#attributes(outer);
    if (prefixo !== '' && !escopo.has(prefixo)) throw this.refusal(`o prefixo ${prefixo} não foi declarado`, start);
    const conteudo: (Elemento | string)[] = [];
    if (this.#is('/>')) this.#at += 2;
    else {
      this.#take('>', `a marca de ${tag} não termina`);
      this.#content(conteudo, escopo, depth);
      this.#take(`</${tag}`, `falta o fim de ${tag}`);
      this.#skip();
      this.#take('>', `o fim de ${tag} não se lê`);
    }
    return { prefixo, nome, atributos, escopo, conteudo };
  }

  #content(into: (Elemento | string)[], escopo: ReadonlyMap<string, string>, depth: number): void {
    let text = '';
    while (this.#at < this.#text.length && !this.#is('</')) {
      if (this.#is('<![CDATA[')) {
        const end = this.#text.indexOf(']]>', this.#at);
        if (end < 0) throw this.refusal('a seção CDATA não termina');
        text += this.#text.slice(this.#at + 9, end);
        this.#at = end + 3;
      } else if (this.#is('<')) {
        this.#noMarkup();
        if (text !== '') into.push(text);
        text = '';
        into.push(this.#element(escopo, depth + 1));
      } else {
        const next = this.#text.indexOf('<', this.#at);
        const end = next < 0 ? this.#text.length : next;
        const piece = this.#text.slice(this.#at, end);
        if (piece.includes(']]>')) throw this.refusal('há ]]> solto em um texto');
        text += this.#resolve(piece);
        this.#at = end;
      }
    }
    if (text !== '') into.push(text);
  }

  #attributes(outer: ReadonlyMap<string, string>): Pick<Elemento, 'escopo' | 'atributos'> {
    const own = new Map<string, string>();
    const written: (Atributo & { readonly at: number })[] = [];
    while (this.#skip() && !this.#is('>') && !this.#is('/>')) {
      const at = this.#at;
      const name = this.#match(NAME);
      if (name === undefined) throw this.refusal('o nome de um atributo não se lê');
      const [whole, prefixo = '', nome = ''] = name;
      this.#skip();
      this.#take('=', `o atributo ${whole} não tem valor`);
      this.#skip();
      const quote = this.#text[this.#at];
      const end = quote === '"' || quote === "'" ? this.#text.indexOf(quote, this.#at + 1) : -1;
      if (end < 0) throw this.refusal(`o valor de ${whole} não está entre aspas`);
      const raw = this.#text.slice(this.#at + 1, end);
      if (raw.includes('<')) throw this.refusal(`há < no valor de ${whole}`);
      // A literal white space becomes a space; a referenced one stays.
      const valor = this.#resolve(raw.replace(/[\t\n]/g, ' '));
      this.#at = end + 1;
      if (prefixo === 'xmlns' || (prefixo === '' && nome === 'xmlns')) {
        const declared = prefixo === '' ? '' : nome;
        if (own.has(declared)) throw this.refusal(`${whole} está declarado duas vezes`, at);
        if (declared !== '' && valor === '') throw this.refusal(`o prefixo ${declared} está declarado sem valor`, at);
        if (declared === 'xmlns' || (declared === 'xml') !== (valor === XML_NAMESPACE)) {
          throw this.refusal(`${whole} não se declara`, at);
        }
        own.set(declared, valor);
      } else written.push({ prefixo, nome, valor, at });
    }
    const escopo = own.size === 0 ? outer : new Map([...outer, ...own]);
    const seen = new Set<string>();
    for (const { prefixo, nome, at } of written) {
      if (prefixo !== '' && !escopo.has(prefixo)) throw this.refusal(`o prefixo ${prefixo} não foi declarado`, at);
      const key = `${prefixo === '' ? '' : escopo.get(prefixo)} ${nome}`;
      if (seen.has(key)) throw this.refusal(`o atributo ${nome} está escrito duas vezes`, at);
      seen.add(key);
    }
    return { escopo, atributos: written.map(({ prefixo, nome, valor }) => ({ prefixo, nome, valor })) };
  }

  #resolve(text: string): string {
    if (!text.includes('&')) return text;
    return text.replace(/&([^;&\s]*);?/g, (whole, name: string) => {
      const known = Object.hasOwn(REFERENCES, name) ? REFERENCES[name] : undefined;
      const digits = /^#(?:x([0-9A-Fa-f]{1,6})|([0-9]{1,7}))$/.exec(name);
      const point = digits === null ? Number.NaN : Number.parseInt(digits[1] ?? digits[2]!, digits[1] ? 16 : 10);
      const character = point <= 0x10ffff ? String.fromCodePoint(point) : undefined;
      const value = known ?? character;
      if (!whole.endsWith(';') || value === undefined || NO_CHARACTER.test(value)) {
        throw this.refusal(`a referência ${whole} não se lê; & se escreve &amp;`);
      }
      return value;
    });
  }
}

const REFERENCES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** O espaço de nomes de um elemento; vazio onde não há. */
export function espacoDe({ prefixo, escopo }: Elemento): string {
  return escopo.get(prefixo) ?? '';
}

/** O valor de um atributo sem prefixo. */
export function atributoDe({ atributos }: Elemento, nome: string): string | undefined {
  return atributos.find((one) => one.prefixo === '' && one.nome === nome)?.valor;
}

/** Os elementos diretamente dentro de um. */
export function filhosDe({ conteudo }: Elemento): readonly Elemento[] {
  return conteudo.filter((one) => typeof one !== 'string');
}

/** A forma canônica exclusiva de um elemento como ápice: os bytes dela em UTF-8 são os que se resumem. */
export function formaCanonica(elemento: Elemento): string {
  return canonical(elemento, new Map());
}

/** `rendered`: the declarations that the enclosing elements have written. */
function canonical(element: Elemento, rendered: ReadonlyMap<string, string>): string {
  const { prefixo, nome, atributos, escopo, conteudo } = element;
  const used = new Set([prefixo, ...atributos.flatMap((one) => (one.prefixo === '' ? [] : [one.prefixo]))]);
  const declared = [...used]
    .filter((prefix) => prefix !== 'xml' && (escopo.get(prefix) ?? '') !== (rendered.get(prefix) ?? ''))
    .sort(byText)
    .map((prefix) => [prefix, escopo.get(prefix) ?? ''] as const);
  const within = declared.length === 0 ? rendered : new Map([...rendered, ...declared]);
  const ordered = [...atributos].sort(
    (a, b) => byText(namespaceOf(a, escopo), namespaceOf(b, escopo)) || byText(a.nome, b.nome),
  );
  const name = qualified(prefixo, nome);
  const head = [
    name,
    ...declared.map(([prefix, uri]) => `${prefix === '' ? 'xmlns' : `xmlns:${prefix}`}="${inAttribute(uri)}"`),
    ...ordered.map((one) => `${qualified(one.prefixo, one.nome)}="${inAttribute(one.valor)}"`),
  ];
  const inside = conteudo.map((one) => (typeof one === 'string' ? inText(one) : canonical(one, within)));
  return `<${head.join(' ')}>${inside.join('')}</${name}>`;
}

function qualified(prefixo: string, nome: string): string {
  return prefixo === '' ? nome : `${prefixo}:${nome}`;
}

/** An attribute without prefix has no namespace. */
function namespaceOf({ prefixo }: Atributo, escopo: ReadonlyMap<string, string>): string {
  return prefixo === '' ? '' : escopo.get(prefixo)!;
}

function byText(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function inText(text: string): string {
  return text.replace(/[&<>\r]/g, (character) => ESCAPES[character]!);
}

function inAttribute(text: string): string {
  return text.replace(/[&<"\t\n\r]/g, (character) => ESCAPES[character]!);
}

const ESCAPES: Readonly<Record<string, string>> = {
  ...{ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' },
  ...{ '\t': '&#x9;', '\n': '&#xA;', '\r': '&#xD;' },
};
