▁V ▁noci ▁Marek ▁ne ní ▁krásný .
▁Právník ▁kontro l oval ▁fotografii .
▁Mo m en t ál ně ▁v ▁obcho dě ▁jsou ▁čtyři ▁či sté ▁hrnky .
▁Tito ▁šéfové ▁obvykle ▁p í šou ▁nějaký ▁vzkaz , ▁že ?
▁Ne p ůj č oval ▁chud ý ▁právník ▁Pet ro vi ▁telefon ?
▁Jana ▁bude ▁velmi ▁nov á .
▁Po sla li ▁js me ▁Kar l ovi ▁čtyři ▁knihy , ▁že ?
▁Voják ▁může ▁přeložit ▁fotografii ▁klu ka .
▁Martin ▁odmít ne ▁o t áz ky , ▁dříve ▁než ▁se ▁prodavač ▁vzdá .
▁B y ly ▁u ▁školy ▁čtyři ▁kufr y ?
▁V ▁noci ▁učitelé ▁budou ▁chápat ▁dva ▁články .
▁Včera ▁někdo ▁vyro bil ▁naši ▁kabel ku .
▁Jeho ▁dědeček ▁rozzlobeně ▁mě ní ▁časopisy .
▁Oni ▁mohou ▁z op ak ovat , ▁že ▁spisovatelé ▁sle du jí ▁fil my .
▁Policisté ▁rychle ▁nep ř ek va pí ▁Pet ra .
▁Z do bí ▁soudci ▁vždy ▁či sté ▁letiště ?
▁Filip ▁může ▁umýt ▁ko la , ▁jestliže ▁šest ▁policist ů ▁zazpí vá .
▁Lukáš ▁může ▁prozkoum at ▁nějakou ▁čist ou ▁motorku .
▁Náš ▁spisovatel ▁sle dova l ▁nějaké ▁pořa dy , ▁zatímco ▁dědečkové ▁rozbí j eli ▁nějaký ▁hrnek .
▁Voják ▁si ▁neb ude ▁vzpomí na t , ▁že ▁se ▁o ▁víkendu ▁sla vný ▁šéf ▁může ▁poh ádat .
▁Před ▁nemocni cí ▁bylo ▁sedm ▁vtip ný ch ▁sousedů .
▁U ▁restaurace ▁jsou ▁čtyři ▁policisté .
▁Může ▁šest ▁soudc ů ▁vyře šit ▁tento ▁problém ?
▁Soudci ▁v ola li ▁koleg ovi , ▁že ?
▁Osm ▁kluků ▁propou š tí ▁šéf a .
▁Josef ▁zřídka ▁vyhaz uje ▁kab át ▁Tomáš e , ▁že ?
▁Petr ▁musí ▁opra vit ▁ok no , ▁dříve ▁než ▁zav olá te ▁nějaký m ▁koleg ům .
▁Tři ▁dělníci ▁pomá ha jí ▁Filip ovi .
▁Někdo ▁vždy ▁my je ▁váš ▁náklaďák .
▁P ře de v čí r em ▁js me ▁s ně d li ▁nějaké ▁polévky .
▁Někdo ▁o kamžitě ▁může ▁nají t ▁vaše ho ▁děl níka .
▁Marek ▁na psal ▁příběh .
▁Tomáš ▁uvaři l ▁večeři , ▁protože ▁js em ▁zavola l ▁Filip ovi .
▁M usejí ▁tito ▁kuchaři ▁vyděsit ▁osm ▁ps ů ?
▁Dnes ▁pět ▁spisovatelů ▁rozbí jí ▁vaše ▁ok no ▁na ▁trhu .
▁Policista ▁zřídka ▁podá vá ▁Josef ovi ▁tři ▁kabel ky , ▁že ?
▁O kamžitě ▁odmít á te ▁časopis .
▁K dy si ▁dávno ▁někdo ▁překva pi l ▁jejich ▁že nu .
▁Karel ▁nepo da l ▁jeho ▁kuchaři ▁články .
▁Dnes ▁za ▁pokoje m ▁byli ▁čtyři ▁šéfové .
▁Možná ▁Lukáš ▁roz bi je ▁staré ▁telefony ▁vedle ▁pokoje .
▁Šéfové ▁vyro bi li ▁deset ▁kufr ů , ▁kdy ž ▁nějaký ▁spisovatel ▁pode pisova l ▁tento ▁článek .
▁Určitě ▁někdo ▁po psal ▁tyto ▁učitele .
▁Za jímav ý ▁prodavač ▁uvaři l ▁polévku ▁vojáků .
▁Marie ▁odmít á ▁nějaký ▁dárek .
▁Žena ▁vyzdo bí ▁tyto ▁školy , ▁že ?
▁St av í ▁lékař ▁jejich ▁kancelá ř ?
▁Lukáš ▁úto čí ▁na ▁student y .
▁Naštěstí ▁pokoje ▁Micha la ▁jsou ▁staré .
▁Možná ▁policista ▁dě s il ▁Tomáš e .
▁Někdo ▁zkou ší ▁moje ▁obrovs ké ▁auto .
▁Možná ▁Jana ▁nemůže ▁uklid it ▁kancelá ř ▁v ▁divadle .
▁Koleg ové ▁musejí ▁kou pit ▁pohov ky .
▁Vedle ▁divadla ▁byla ▁nějaká ▁žid le .
▁Může ▁nějaký ▁dělník ▁ná hod ou ▁napsat ▁dopis ?
▁Sedm ▁vojáků ▁musí ▁překvapit ▁nějakého ▁práv níka .
▁Martin ▁nep ř ed poklá dá , ▁že ▁sedm ▁spisovatelů ▁sp ě ch á ▁do ▁hospody .
▁Jan ▁vyrá bí ▁telefony .
▁Prodavač ▁zřídka ▁pronásle duje ▁šest ▁učitel ů .
▁Minulý ▁mě sí c ▁dědeček ▁oprav oval ▁telefony .
▁Po da li ▁učitelé ▁přátel ům ▁zbyteč ný ▁vzkaz ?
▁Možná ▁někdo ▁může ▁najmout ▁tohoto ▁děl níka .
▁Nějaký ▁soused ▁musí ▁potkat ▁nějaké ▁soudce .
▁T e ď ▁na ▁zahra dě ▁je ▁devět ▁mal ých ▁aut .
▁Marek ▁ne va ří ▁koláč ▁Jan y ▁na ▁leti š ti .
▁Kuchař ▁si ▁vzpomí ná , ▁že ▁d nes ▁sedm ▁dělníků ▁použí vá ▁jejich ▁kolo .
▁Čtyři ▁dělníci ▁musejí ▁propustit ▁deset ▁hloup ých ▁prodavačů .
▁Soud ce ▁neb ude ▁tu šit , ▁že ▁se ▁jejich ▁voják ▁může ▁vrá ti t ▁z ▁domu .
▁Někdo ▁musí ▁podat ▁Jakub ovi ▁jeho ▁oběd .
▁Někdo ▁zved l ▁naše ▁podi vné ▁štěně .
▁V ▁létě ▁Pavel ▁ne o d mít á ▁ná pa d .
▁Někdo ▁pronásledova l ▁moje ▁chyt rá ▁štěňat a .
▁Někdo ▁může ▁přeložit ▁můj ▁příběh .
▁Minulý ▁t ý de n ▁soudci ▁ne na j ali ▁tyto ▁sla vné ▁klu ky .
▁V ▁zimě ▁vedle ▁obchodu ▁budou ▁čtyři ▁muži .
▁Př ek va pí te ▁vaši ▁že nu ▁v ▁Pra z e .
▁Jana ▁změ ní ▁fotografii , ▁ačkoli ▁lékař ▁je ▁upřím ný .
▁Minulý ▁mě sí c ▁lékaři ▁zkontrol ovali ▁příběhy ▁šéfů .
▁Musí ▁právník ▁zavolat ▁Mar ii ?
▁Lékaři ▁pode pisova li ▁články ▁tohoto ▁vojá ka , ▁že ?
▁O ▁víkendu ▁Jakub ▁ne ch áp e ▁hloup é ▁ná pa dy ▁Jana , ▁že ?
▁Pavel ▁neb ude ▁tu šit , ▁že ▁se ▁ženy ▁musejí ▁za sm át .
▁L a m p y ▁byly ▁docela ▁n ové .
▁P ře hlí ží m ▁nějakou ▁chyb u , ▁ačkoli ▁jejich ▁chud ý ▁kuchař ▁oprav uje ▁pohovku .
▁V i dí ▁oni ▁deset ▁dělníků ▁v ▁zahra ni čí ?
▁Muži ▁musejí ▁poslat ▁babič ká m ▁dopisy .
▁Ch áp al ▁Petr ▁nějaký ▁příběh ?
▁Určitě ▁někdo ▁stav ě l ▁naše ▁letiště .
▁Mo m en t ál ně ▁naše ▁babička ▁zved á ▁ps a ▁Marti na .
▁Brzy ▁Jana ▁může ▁přeložit ▁seznamy .
▁Čtyři ▁dědečkové ▁mohou ▁prozkoum at ▁tento ▁příběh .
▁Lékaři ▁pom oh li ▁s ed mi ▁babič ká m , ▁protože ▁Josef ▁zazpí val .
▁Student ▁může ▁použít ▁čtyři ▁nože .
▁Musí ▁lékař , ▁který ▁zpí vá ▁v en ku , ▁půjčit ▁o s mi ▁prodavač ům ▁deset ▁šá l ?
▁Dnes ▁tři ▁šéfové ▁musejí ▁pomoct ▁Josef ovi .
▁Někdo ▁zdo bí ▁vaše ▁zahra dy .
▁Jana ▁může ▁sní st ▁tyto ▁polévky ▁v ▁Londý ně .
▁Karel ▁sle duje ▁pořad , ▁že ?
▁Nějaký ▁student ▁rozzlobeně ▁musí ▁použít ▁telefony .
▁Jakub ▁cháp e ▁čtyři ▁chy by .
