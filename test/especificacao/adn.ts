/**
 * The national rules that the ADN runs over a shared note (Anexo I v1.01, column of execution). One of our rules refuses each violation, or
 * the rule stands below. Its entry names the code that answers in its place, or the reason for its absence.
 */
export const ADN_EXECUTA: readonly string[] =
  `E0001 E0004 E0006 E0008 E0014 E0015 E0018 E0020 E0029 E0042 E0044 E0046 E0065 E0068 E0072 E0076 E0078 E0080 E0096 E0112 E0113
  E0114 E0115 E0121 E0122 E0123 E0125 E0128 E0129 E0130 E0138 E0142 E0146 E0148 E0161 E0162 E0166 E0172 E0174 E0175 E0176 E0187
  E0188 E0204 E0206 E0223 E0233 E0234 E0235 E0236 E0237 E0238 E0240 E0242 E0246 E0247 E0248 E0266 E0281 E0291 E0292 E0293 E0294
  E0296 E0298 E0299 E0300 E0302 E0304 E0310 E0315 E0316 E0318 E0320 E0322 E0330 E0331 E0370 E0372 E0373 E0380 E0382 E0384 E0386
  E0390 E0392 E0398 E0400 E0402 E0404 E0420 E0423 E0424 E0425 E0427 E0428 E0429 E0431 E0432 E0435 E0436 E0438 E0439 E0442 E0453
  E0455 E0456 E0460 E0466 E0468 E0470 E0472 E0474 E0476 E0477 E0478 E0484 E0492 E0494 E0496 E0498 E0499 E0529 E0530 E0532 E0533
  E0534 E0535 E0536 E0537 E0540 E0580 E0585 E0588 E0590 E0591 E0592 E0594 E0595 E0596 E0600 E0602 E0604 E0650 E0652 E0672 E0673
  E0675 E0677 E0686 E0692 E0694 E0696 E0699 E0700 E0701 E0702 E0703 E0704 E0706 E0707 E0708 E0720 E0724 E0850 E0854 E0901 E0903
  E0904 E0905 E0906 E0907 E0910 E0911 E0913 E0920 E0921 E0922 E0928 E0930 E0931 E0932 E0933 E0934 E0935 E0940 E0942 E0943 E0945
  E0947 E0950 E0951 E0952 E0953 E0958 E0959 E0964 E0965 E0969 E0970 E0971 E0972 E1260 E1263 E1268 E1270 E1272 E1274 E1276 E1278
  E1280 E1282 E1284 E1285 E1286 E1287 E1288 E1289 E1294 E1295 E1297 E1300 E1301 E1302 E1303 E1304 E1305 E1307 E1308 E1309 E1310
  E1311 E1313 E1317 E1321 E1325 E1327 E1329 E1388 E1506 E1508 E1515 E1517 E1521 E1522 E1523 E1530 E1531 E1533 E1534 E1535 E1538
  E1539 E1540 E1541 E1543 E1545 E1546 E1547 E1548 E1549 E1550 E1551 E1552 E1553 E1554 E1555 E1556 E1557 E1558 E1560 E1561 E1565
  E1566 E1567 E1568 E1569 E1570 E1571 E1572 E1575 E1576 E1577 E1578 E1580 E1581 E1582 E1583 E1584 E1585 E1586 E1587 E1588 E1589
  E1590 E1600 E1601 E1602 E1603 E1604 E1605 E1606 E1607 E1630 E1632 E1634 E1636 E1638 E9996`.split(/\s+/);

export type ExecutadaPeloAdn = {
  /** Codes with the same reason, separated by spaces. */
  readonly codes: string;
  /** Their subject, in Portuguese. */
  readonly sobre: string;
  /** The codes that answer in their place. */
  readonly responde?: readonly string[];
  /** The reason why no code answers. */
  readonly fora?: string;
};

export const ADN_NOMEADAS: readonly ExecutadaPeloAdn[] = [
  { codes: 'E0001 E0854', sobre: 'versão do leiaute da DPS', responde: ['E110'] },
  { codes: 'E0014', sobre: 'série e número já usados', responde: ['E0014'] },
  {
    codes: 'E0188 E0206 E0248 E0266 E0478 E0484 E0911 E0913 E0945 E0947',
    sobre: 'dígitos verificadores de CNPJ e CPF',
    responde: ['E0003'],
  },
  { codes: 'E1280 E1284', sobre: 'dígitos verificadores do emitente', responde: ['E0080', 'E0096'] },
  {
    codes: 'E0238 E0294 E0302 E0466 E0494 E0920 E0943',
    sobre: 'município que não existe',
    responde: ['E403'],
  },
  { codes: 'E0233 E0235 E0292 E0318 E0322', sobre: 'elemento que falta', responde: ['E002'] },
  { codes: 'E0223', sobre: 'tomador no exterior sem NIF nem motivo', responde: ['E0188', 'E0191', 'E0193'] },
  { codes: 'E0382', sobre: 'CEP de uma obra no exterior', responde: ['E0382'] },
  { codes: 'E0476', sobre: 'dedução acima do preço do serviço', responde: ['E0427'] },
  { codes: 'E0530', sobre: 'tributação do que é devido no exterior', responde: ['E1305'] },
  { codes: 'E0602', sobre: 'alíquota sem ISSQN', responde: ['E1303'] },
  { codes: 'E0706 E0707 E0708', sobre: 'percentuais dos tributos aproximados', responde: ['E0002'] },
  { codes: 'E0951', sobre: 'competência do documento depois da emissão dele', responde: ['E0950'] },
  { codes: 'E1297', sobre: 'base reduzida além do mínimo de 2%', responde: ['E0429'] },
  {
    codes: 'E0112 E0114 E0115 E0122 E0123 E0125 E0129 E0130 E0138 E0142 E0236 E0291 E0320 E0650 E0652 E0672 E0673',
    sobre: 'emissão pelo tomador ou pelo intermediário, e prestador no exterior',
    responde: ['E9996', 'E002'],
  },
  {
    codes: 'E0121 E0128',
    sobre: 'nome e endereço do prestador na DPS que ele emite',
    fora: 'podem vir, e a DPS que vai ao ADN não os leva: a nota traz os do cadastro',
  },
  {
    codes: 'E0004 E1260 E1263 E1274 E1276 E1278 E1282 E1285 E1286 E1304 E1309 E1327 E1329',
    sobre: 'identificadores, datas, emitente e municípios da NFS-e',
    fora: 'o serviço os escreve, do que a DPS e o cadastro dizem',
  },
  {
    codes: 'E1287 E1288 E1289 E1295 E1506 E1508',
    sobre: 'valores do ISSQN e retenções da NFS-e',
    fora: 'o serviço os calcula pelas mesmas fórmulas; o que ficaria negativo, E0427 e E0428 recusam',
  },
  {
    codes: `E1515 E1517 E1521 E1522 E1523 E1531 E1533 E1535 E1540 E1541 E1543 E1545 E1546 E1547 E1548 E1550 E1551 E1552 E1553 E1557
      E1560 E1565 E1566 E1569 E1570 E1571 E1575 E1576 E1580 E1581 E1583 E1584 E1585 E1586 E1587 E1588 E1589 E1590 E1600 E1601 E1602
      E1603 E1604 E1605 E1606 E1607`,
    sobre: 'grupo IBSCBS da NFS-e',
    fora: 'o serviço o calcula e o escreve; sem alíquota publicada a nota fica retida',
  },
  {
    codes: 'E1630 E1632 E1634 E1636 E1638',
    sobre: 'assinatura da NFS-e',
    fora: 'o serviço a faz, com o certificado do município',
  },
  {
    codes: 'E1268',
    sobre: 'chave que já existe',
    fora: 'o número da NFS-e é único por município; antes de repetir um envio o serviço pergunta ao ADN',
  },
  {
    codes: 'E1308 E1310',
    sobre: 'nota substituta e o evento da substituída',
    fora: 'a substituta é emitida, com um aviso, e espera pelo evento',
  },
  {
    codes: 'E0018 E0020 E0456 E0921 E0922',
    sobre: 'cadastros nacionais de CNPJ, CPF e notas',
    fora: 'nenhum deles se consulta aqui; o fato não está na DPS',
  },
  { codes: 'E0537 E1270 E1272', sobre: 'convênio do município', fora: 'o fato não está na DPS' },
  {
    codes: 'E0240 E0296 E0380 E0496',
    sobre: 'CEP que não é do município',
    fora: 'só as faixas de CEP de cada estado são públicas: um aviso as confere',
  },
  {
    codes: 'E0373 E0933',
    sobre: 'dígito verificador do CIB',
    fora: 'o algoritmo não está publicado; a forma que a especificação pede é conferida',
  },
  {
    codes: 'E0161',
    sobre: 'nota de um MEI',
    fora: 'a especificação prevê a emissão pelo MEI: a nota é emitida, com um aviso',
  },
  {
    codes: 'E0675',
    sobre: 'tributos federais de pessoa física',
    fora: 'o ambiente nacional a desligou em 13/03/2026: só um aviso',
  },
];
