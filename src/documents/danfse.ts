/**
 * Prints a note, DANFSe v2.0 (NT SE/CGNFS-e 008 with the IBS/CBS block): the bytes of the authorised NFS-e become one A4 page as PDF. All
 * its content is in the document, except the cancellation or replacement of the note.
 *
 * The fields are the table in `danfse/campos.ts`; this file sets them. A block that a note lacks shrinks to one line, and the two long
 * texts get the free room. Texts are cut at the length of the standard, set in narrower letters, or broken into lines. The size of letters
 * never changes: the sizes of the standard are minimums.
 */
import { once } from '../fiscal/catalogs/table.ts';
import {
  BLOCOS,
  type Bloco,
  BODY,
  CANHOTO,
  type Campo,
  INFORMACOES,
  informacoes,
  SUPPRESSED_HEIGHT,
  totaisAproximados,
} from './danfse/campos.ts';
import { NEGRITO, SANS } from './danfse/fonte.ts';
import { type Impressa, impressaOf, optionAt, VAZIO } from './danfse/impressa.ts';
import {
  type Area,
  BRANCO,
  blankFolha,
  type Cor,
  composeText,
  type Folha,
  fill,
  fillCells,
  fitting,
  frame,
  type Letra,
  type Linha,
  measure,
  PAGE_HEIGHT,
  PAGE_WIDTH,
  PRETO,
  pdfOf,
  points,
  rule,
  setMark,
  setText,
  shade,
} from './danfse/pdf.ts';
import { drawQr } from './qr.ts';
import { readXml } from './xml.ts';

/** The state of a note after its events. */
export type SituacaoImpressa = 'cancelada' | 'substituida';

/** The public address that shows whether a note exists; the QR code has it. */
export function consultaPublica(chave: string): string {
  return `https://www.nfse.gov.br/ConsultaPublica/?tpc=1&chave=${chave}`;
}

/** The PDF of an NFS-e. It throws when the bytes are no NFS-e: only an authorised document is printed. */
export function renderDanfse(nfse: Uint8Array, situacao?: SituacaoImpressa): Buffer {
  const reading = readXml(nfse);
  if ('fault' in reading) throw new RangeError(reading.fault.mensagem);
  const nota = impressaOf(reading.root);
  const folha = blankFolha();
  const border = PAGE_MARGIN + points(BORDER_PT / 2);
  frame(folha, { x: border, y: border, w: PAGE_WIDTH - 2 * border, h: PAGE_HEIGHT - 2 * border }, BORDER_PT);
  setWatermark(folha, nota, situacao);
  setHeader(folha, nota);
  setQrCode(folha, nota);
  const { blocos, moved } = arrange(nota);
  const textos = fitTexts(nota, moved);
  let added = 0;
  for (const disposto of blocos) added = setBloco(folha, nota, disposto, added, textos);
  setInformacoes(folha, moved + added, textos);
  if (textos.hasCanhoto) setCanhoto(folha, nota);
  return pdfOf(folha, `DANFSe ${nota.chave.replace(/[^0-9A-Z]/g, '')}`);
}

/** Distance from the border to the edge of the sheet; the standard demands 0.15 to 0.20. */
const PAGE_MARGIN = 0.17;
const BORDER_PT = 1;
const LINE_PT = 0.5;
/** 5 % of black. */
const CINZA: Cor = '0.95 0.95 0.95';
const VERMELHO: Cor = '1 0 0';
/** 35 % of black: #A6A6A6. */
const CINZA_DA_MARCA: Cor = '0.651 0.651 0.651';

const TITULO: Letra = { fonte: NEGRITO, size: 7 };
const ROTULO: Letra = { fonte: NEGRITO, size: 6 };
const ROTULO_MAIOR: Letra = { fonte: NEGRITO, size: 7 };
const CONTEUDO: Letra = { fonte: SANS, size: 7 };
const DOCUMENTO: Letra = { fonte: NEGRITO, size: 9 };
const MUNICIPIO: Letra = { fonte: SANS, size: 8 };
const MIUDO: Letra = { fonte: SANS, size: 6 };

/** Distance from the edge of a cell to its text. */
const PADDING = 0.07;
/**
 * Distance from the top of a cell to the baseline of its label, of 6 or of 7 points; and from its bottom to the baseline of its content.
 */
const LABEL_DROP = points(6.8);
const CAPITALS_DROP = points(7.4);
const CONTENT_RISE = points(2.8);
/** Baseline of the only line of a cell without a label. */
const SOLE_DROP = points(6.9);
/** Distance between lines of 7 points: the height of the letters, ascenders and descenders included. */
const LEADING = points(7.9);
/** Dividing lines run in the gap between the rows of the table, from border to border. */
const GAP = 0.02;

function setWatermark(folha: Folha, { at }: Impressa, situacao: SituacaoImpressa | undefined): void {
  const lines: (readonly [text: string, size: number])[] = [];
  if (situacao !== undefined) lines.push([MARCAS[situacao], SITUACAO_PT]);
  if (at('DPS/infDPS/tpAmb') === '2') {
    for (const text of MARCA_DA_HOMOLOGACAO) lines.push([text, HOMOLOGACAO_PT]);
  }
  const heights = lines.map(([, size]) => points(size * 1.1));
  const total = heights.reduce((sum, height) => sum + height, 0);
  let top = -total / 2;
  for (const [place, [text, size]] of lines.entries()) {
    const height = heights[place]!;
    // The capitals have about 0.7 of their size; their middle stands in the middle of the line.
    const offset = top + height / 2 + points(size * 0.35);
    setMark(folha, { fonte: SANS, size }, text, { cor: CINZA_DA_MARCA, degrees: MARCA_DEGREES, offset });
    top += height;
  }
}

const MARCAS: Readonly<Record<SituacaoImpressa, string>> = { cancelada: 'CANCELADA', substituida: 'SUBSTITUÍDA' };
const MARCA_DA_HOMOLOGACAO = ['AMBIENTE DE', 'HOMOLOGAÇÃO', 'SEM VALOR FISCAL'];
/** The standard demands at least 50 points. */
const SITUACAO_PT = 84;
const HOMOLOGACAO_PT = 54;
const MARCA_DEGREES = 50;

const HEADER = { ...BODY, y: 0.3, h: 1.16 } as const;
const LOGO = { x: 0.49, y: 0.44, w: 4, h: 0.85 } as const;
const TITLE_FRAME = { x: 5.41, y: 0.3, w: 10.19, h: 1.16 } as const;
const RIGHT_COLUMN = { x: 15.62, w: 5.09 } as const;

function setHeader(folha: Folha, nota: Impressa): void {
  const { at } = nota;
  shade(folha, HEADER, CINZA);
  for (const [linha, y] of LOGO_TEXTS()) setText(folha, linha, y);
  const isHomologacao = at('DPS/infDPS/tpAmb') === '2';
  const lines: (readonly [text: string, cor?: Cor])[] = [['DANFSe v2.0'], ['Documento Auxiliar da NFS-e']];
  if (isHomologacao) lines.push(['NFS-e SEM VALIDADE JURÍDICA', VERMELHO]);
  const pitch = points(10.2);
  const first = TITLE_FRAME.y + (TITLE_FRAME.h - pitch * lines.length) / 2 + points(8);
  for (const [place, [text, cor]] of lines.entries()) {
    const x = TITLE_FRAME.x + (TITLE_FRAME.w - measure(DOCUMENTO, text)) / 2;
    setText(folha, composeText(folha, DOCUMENTO, x, text, 1, cor), first + place * pitch);
  }
  // A code of item 99 names no service of a municipality.
  if (!at('DPS/infDPS/serv/cServ/cTribNac')?.startsWith('99')) {
    const text = `Município: ${at('xLocEmi') ?? VAZIO} / ${at('emit/enderNac/UF') ?? VAZIO}`;
    const { lines: wrapped, stretch } = wrapInto(MUNICIPIO, text, 2, RIGHT_COLUMN.w);
    for (const [place, line] of wrapped.entries()) {
      const linha = composeText(folha, MUNICIPIO, RIGHT_COLUMN.x + PADDING, line, stretch);
      setText(folha, linha, 0.3 + points(8 + 9.1 * place));
    }
  }
  const environment = [
    [0.97, `Ambiente Gerador: ${optionAt('ambGer', 'ambGer')(nota) ?? VAZIO}`],
    [1.22, `Tipo de Ambiente: ${optionAt('tpAmb', 'DPS/infDPS/tpAmb')(nota) ?? VAZIO}`],
  ] as const;
  for (const [y, text] of environment) {
    setInside(folha, RIGHT_COLUMN, MIUDO, y + points(5.6), text);
  }
}

/** The name in letters. The official logo belongs to its owner, and this project does not include it. */
const LOGO_TEXTS = once(() => {
  const x = LOGO.x + 2.3;
  return [
    [composeText(blankFolha(), { fonte: NEGRITO, size: 20 }, LOGO.x, 'NFS-e'), LOGO.y + points(16.5)],
    [composeText(blankFolha(), ROTULO, x, 'Nota Fiscal de'), LOGO.y + points(8.2)],
    [composeText(blankFolha(), ROTULO, x, 'Serviço eletrônica'), LOGO.y + points(15.6)],
  ] as const;
});

const QR: Area = { x: 17.48, y: 1.67, w: 1.52, h: 1.52 };
/** The width of the quiet zone around the code, in modules; a reader finds the code by it. */
const QUIET_MODULES = 4;
const QR_TEXT = {
  x: 15.8,
  y: 3.36,
  w: 4.72,
  text: 'A autenticidade desta NFS-e pode ser verificada pela leitura deste código QR ou pela consulta da chave de acesso no portal nacional da NFS-e',
} as const;

function setQrCode(folha: Folha, { chave }: Impressa): void {
  const rows = drawQr(consultaPublica(chave));
  const quiet = (QUIET_MODULES * QR.w) / rows.length;
  fill(folha, { x: QR.x - quiet, y: QR.y - quiet, w: QR.w + 2 * quiet, h: QR.h + 2 * quiet }, BRANCO);
  fillCells(folha, QR, rows, PRETO);
  for (const [linha, y] of QR_LINES()) setText(folha, linha, y);
}

const QR_LINES = once(() => {
  const { lines, stretch } = wrapInto(MIUDO, QR_TEXT.text, 3, QR_TEXT.w);
  return lines.map((line, place) => {
    const x = QR_TEXT.x + (QR_TEXT.w - measure(MIUDO, line) * stretch) / 2;
    return [composeText(blankFolha(), MIUDO, x, line, stretch), QR_TEXT.y + points(5.6 + 6.75 * place)] as const;
  });
});

/** Breaks a text into at most `linesMax` lines, in letters as narrow as needed. */
function wrapInto(letra: Letra, text: string, linesMax: number, w: number) {
  for (let stretch = 1; ; stretch -= 0.02) {
    const lines = wrap(letra, text, (w - 2 * PADDING) / stretch);
    if (lines.length <= linesMax || stretch <= MIN_STRETCH) return { lines: lines.slice(0, linesMax), stretch };
  }
}

/** A block with its place on a page whose description of the service has one line. */
type Disposto = {
  readonly bloco: Bloco;
  readonly y: number;
  /** The line that replaces the block. */
  readonly instead: string | undefined;
  /** Its fields, each with its distance from the place in the table. */
  readonly campos: readonly (readonly [campo: Campo, moved: number])[];
};

/** The fields of each block by their rows, from the top. */
const ROWS = new Map(BLOCOS.map((bloco) => [bloco, [...Map.groupBy(bloco.campos, (campo) => campo.y)]]));

/** Omitted blocks and rows leave their room to the following ones. `moved`: the final distance of the last block from its place. */
function arrange(nota: Impressa): { readonly blocos: readonly Disposto[]; readonly moved: number } {
  const blocos: Disposto[] = [];
  let moved = 0;
  for (const bloco of BLOCOS) {
    const y = bloco.y + moved;
    const instead = bloco.instead?.(nota);
    const campos: [Campo, number][] = [];
    if (instead !== undefined) moved += SUPPRESSED_HEIGHT + GAP - (bloco.end - bloco.y);
    else {
      const rows = ROWS.get(bloco)!;
      for (const [place, [top, row]] of rows.entries()) {
        if (bloco.leftOut?.[top]?.(nota, row)) moved -= (rows[place + 1]?.[0] ?? bloco.end) - top;
        else for (const campo of row) campos.push([campo, moved]);
      }
    }
    blocos.push({ bloco, y, instead, campos });
  }
  return { blocos, moved };
}

/**
 * `added`: the total distance by which the description of the service has moved the blocks so far. Returns the new distance after this
 * block.
 */
function setBloco(
  folha: Folha,
  nota: Impressa,
  { bloco, y, instead, campos }: Disposto,
  added: number,
  textos: Textos,
) {
  drawDividingLine(folha, y + added);
  if (instead !== undefined) {
    const line = { ...BODY, y: y + added, h: SUPPRESSED_HEIGHT };
    shade(folha, line, CINZA);
    setInside(folha, line, TITULO, line.y + SOLE_DROP, instead);
    return added;
  }
  const { titulo, capitals } = bloco;
  const [first] = bloco.campos;
  if (titulo !== undefined) setTitulo(folha, titulo, { x: BODY.x, y: y + added, w: TITLE_WIDTH, h: first!.h });
  let all = added;
  for (const [campo, moved] of campos) {
    if (campo.elastic) all += setDescricao(folha, campo, moved + all, textos);
    else setCampo(folha, nota, campo, moved + all, capitals === true);
  }
  return all;
}

const TITLE_WIDTH = 5.09;

function setTitulo(folha: Folha, titulo: string, area: Area): void {
  shade(folha, area, CINZA);
  const linha = fixed.getOrInsertComputed(titulo, () => composeLine(blankFolha(), area, TITULO, titulo));
  setText(folha, linha, area.y + area.h / 2 + points(2.5));
}

function setCampo(folha: Folha, nota: Impressa, campo: Campo, moved: number, capitals: boolean): void {
  const { label, x, w, h } = campo;
  const y = campo.y + moved;
  if (campo.shaded) shade(folha, { x, y, w, h }, CINZA);
  const [letra, drop] = capitals ? ([ROTULO_MAIOR, CAPITALS_DROP] as const) : ([ROTULO, LABEL_DROP] as const);
  if (label !== '') setLabel(folha, campo, letra, y + drop);
  setInside(folha, campo, CONTEUDO, y + h - CONTENT_RISE, shorten(campo.of(nota) ?? VAZIO, campo.max));
}

/** A cell, as wide as it is; its height does not matter to a line. */
type Cell = Pick<Area, 'x' | 'w'>;

/** Sets one line between the edges of a cell. */
function setInside(folha: Folha, cell: Cell, letra: Letra, baseline: number, text: string): void {
  setText(folha, composeLine(folha, cell, letra, text), baseline);
}

/** The labels by their fields, and the titles by themselves: they are the same on every page, but for their heights. */
const fixed = new Map<Campo | string, Linha>();

function setLabel(folha: Folha, campo: Campo, letra: Letra, baseline: number): void {
  setText(
    folha,
    fixed.getOrInsertComputed(campo, () => composeLine(blankFolha(), campo, letra, campo.label)),
    baseline,
  );
}

/** Sets the description, and returns its additional height beyond one line. */
function setDescricao(folha: Folha, campo: Campo, moved: number, { descricao, stretch }: Textos): number {
  const y = campo.y + moved;
  setLabel(folha, campo, ROTULO, y + LABEL_DROP);
  setLines(folha, descricao, y + campo.h - CONTENT_RISE, stretch);
  return (descricao.length - 1) * LEADING;
}

function setInformacoes(folha: Folha, moved: number, { complementares, stretch }: Textos): void {
  const { titulo, y, content } = INFORMACOES;
  drawDividingLine(folha, y + moved);
  setTitulo(folha, titulo, { ...BODY, y: y + moved, h: content - y - GAP });
  setLines(folha, complementares, content + moved + SOLE_DROP, stretch);
}

function setLines(folha: Folha, lines: readonly string[], first: number, stretch: number): void {
  for (const [place, line] of lines.entries()) {
    if (line === '') continue;
    setText(folha, composeText(folha, CONTEUDO, BODY.x + PADDING, line, stretch), first + place * LEADING);
  }
}

function setCanhoto(folha: Folha, nota: Impressa): void {
  const { y, h, campos } = CANHOTO;
  drawDividingLine(folha, y);
  for (const campo of campos) {
    frame(folha, { x: campo.x, y, w: campo.w, h }, LINE_PT);
    setLabel(folha, campo, ROTULO, y + LABEL_DROP);
    const content = campo.of(nota);
    if (content !== undefined) setInside(folha, campo, CONTEUDO, y + h - CONTENT_RISE, shorten(content, campo.max));
  }
}

function drawDividingLine(folha: Folha, y: number): void {
  rule(folha, PAGE_MARGIN, y - GAP / 2, PAGE_WIDTH - 2 * PAGE_MARGIN, LINE_PT);
}

/** The two long texts in lines; `hasCanhoto` says if the stub still fits below them. */
type Textos = {
  readonly descricao: readonly string[];
  readonly complementares: readonly string[];
  readonly stretch: number;
  readonly hasCanhoto: boolean;
};

/** The sender's line breaks become spaces when the page has no room for them. */
const JOINED_BREAK = ' ';
const STRETCH_STEP = 0.05;

/**
 * Sets the two long texts so that both fit: first unchanged, then without the stub, then in narrower letters, then with the sender's line
 * breaks joined. Only a page of the widest letters still needs a cut. The cut shortens the complementary information, never its fixed end.
 */
function fitTexts(nota: Impressa, moved: number): Textos {
  const field = DESCRICAO;
  const description = shorten(field.of(nota) ?? VAZIO, field.max);
  const more = shorten(informacoes(nota), INFORMACOES.max);
  const free = (hasCanhoto: boolean): number => {
    const bottom = hasCanhoto ? CANHOTO.y - GAP : PAGE_HEIGHT - PAGE_MARGIN - points(BORDER_PT);
    const top = INFORMACOES.content + moved + SOLE_DROP;
    // The first line of the description stands at its place in the table; the last one keeps its distance from the text
    // below.
    return Math.floor((bottom - top - points(2)) / LEADING) + 2;
  };
  const totals = totaisAproximados(nota);
  const set = (stretch: number, joined: boolean): Pick<Textos, 'descricao' | 'complementares' | 'stretch'> => {
    const width = (BODY.w - 2 * PADDING) / stretch;
    const lined = (text: string): readonly string[] =>
      wrap(CONTEUDO, joined ? text.replace(/\s*\n\s*/g, JOINED_BREAK) : text, width);
    const complementares = [...(more === '' ? [] : lined(more)), ...lined(totals)];
    return { descricao: lined(description), complementares, stretch };
  };
  const fits = ({ descricao, complementares }: ReturnType<typeof set>, hasCanhoto: boolean): boolean =>
    descricao.length + complementares.length <= free(hasCanhoto);
  const natural = set(1, false);
  for (const hasCanhoto of [true, false]) if (fits(natural, hasCanhoto)) return { ...natural, hasCanhoto };
  for (const joined of [false, true]) {
    for (let stretch = 1; stretch >= MIN_STRETCH; stretch -= STRETCH_STEP) {
      const narrow = set(stretch, joined);
      if (fits(narrow, false)) return { ...narrow, hasCanhoto: false };
    }
  }
  const last = set(MIN_STRETCH, true);
  const room = Math.max(0, free(false) - last.descricao.length - 1);
  const kept = last.complementares.slice(0, -1).slice(0, room);
  const end = kept.pop();
  const cut = end === undefined ? [] : [`${end.slice(0, -3)}...`];
  return { ...last, complementares: [...kept, ...cut, totals], hasCanhoto: false };
}

const DESCRICAO = BLOCOS.flatMap(({ campos }) => campos).find(({ elastic }) => elastic)!;

/** The narrowest letters before a text is cut: the width of a condensed face. */
const MIN_STRETCH = 0.7;

const CUT = '...';

/** A text longer than `max` ends with three points in place of its last characters (77 of 80). */
function shorten(text: string, max: number | undefined): string {
  if (max === undefined || text.length <= max) return text;
  const characters = [...text];
  if (characters.length <= max) return text;
  return `${characters
    .slice(0, max - CUT.length)
    .join('')
    .trimEnd()}${CUT}`;
}

/** One line that stays within a cell. */
function composeLine(folha: Folha, cell: Cell, letra: Letra, text: string): Linha {
  const [x, width] = [cell.x + PADDING, cell.w - 2 * PADDING];
  const clean = text.replace(/\s+/g, ' ');
  const natural = measure(letra, clean);
  if (natural * MIN_STRETCH <= width) return composeText(folha, letra, x, clean, Math.min(1, width / natural));
  const kept = fitting(letra, clean, width / MIN_STRETCH - measure(letra, CUT));
  return composeText(folha, letra, x, `${clean.slice(0, kept).trimEnd()}${CUT}`, MIN_STRETCH);
}

/** The lines of a text no wider than `width`. Breaks come at spaces and existing line breaks, and inside a word longer than a line. */
function wrap(letra: Letra, text: string, width: number): readonly string[] {
  return text.split(/\r?\n/).flatMap((paragraph) => wrapParagraph(letra, paragraph, width));
}

function wrapParagraph(letra: Letra, paragraph: string, width: number): readonly string[] {
  const space = measure(letra, ' ');
  const lines: string[] = [];
  let line = '';
  let lineWidth = 0;
  for (const word of paragraph.split(/\s+/).filter((one) => one !== '')) {
    for (const [place, piece] of piecesOf(word).entries()) {
      const pieceWidth = measure(letra, piece);
      const [gap, gapWidth] = place === 0 ? [' ', space] : ['', 0];
      if (line !== '' && lineWidth + gapWidth + pieceWidth <= width) {
        line += gap + piece;
        lineWidth += gapWidth + pieceWidth;
        continue;
      }
      if (line !== '') lines.push(line);
      line = piece;
      lineWidth = pieceWidth;
      while (lineWidth > width) {
        const kept = fitting(letra, line, width) || [...line][0]!.length;
        lines.push(line.slice(0, kept));
        line = line.slice(kept);
        lineWidth = measure(letra, line);
      }
    }
  }
  return [...lines, line];
}

/** The parts of a word between which a line may end: each ideograph or kana, with the brackets and marks that belong to it. */
function piecesOf(word: string): readonly string[] {
  return IDEOGRAPHS.test(word) ? (word.match(PIECES) ?? [word]) : [word];
}

const IDEOGRAPHS = /[\u3040-\u30ff\u4e00-\u9fff\uf900-\ufaff]/;
const OPENING = '[\\p{Ps}\\p{Pi}]*';
const CLOSING = '[\\p{Pe}\\p{Pf}\\p{M}\u3001\u3002\u3005\u30fb\u30fc\uff01\uff0c\uff0e\uff1a\uff1b\uff1f]*';
const ONE = '[\\u3040-\\u30ff\\u4e00-\\u9fff\\uf900-\\ufaff]';
const PIECES = new RegExp(`${OPENING}(?:${ONE}|(?:(?!${ONE})[^\\p{Ps}\\p{Pi}])+)${CLOSING}|.`, 'gu');
