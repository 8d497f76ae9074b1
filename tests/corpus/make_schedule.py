"""Writes schedule_dates.json and schedule_cron.json: what dateutil 4.0 and croniter 7.0, as Salt 3008.3 brings them, make
of dates and cron expressions. Run it in this directory with Salt's Python and TZ=UTC.

schedule_looks.json was recorded with Salt 3008.3: its Schedule.eval was called with the clock in hand; `looks` are
[seconds after Monday 2026-11-23 12:00:00, jobs that start, what it raised], `end` is each job's state after the last look.
"""
import json, datetime, dateutil.parser, croniter
now=datetime.datetime(2026,11,23,12,0,0)
default=now.replace(hour=0,minute=0,second=0,microsecond=0)
texts="""5:00pm|5pm|5 PM|5:00 p.m.|8:00am|12am|12:00am|12:30pm|17:00|17:00:15|7:5|11:59pm|Monday 5:00pm|Tuesday 5:00pm|tue 3pm|Sunday|5:00pm Monday|2026-01-01 10:00|2026-01-01|2026-01-01T10:00:00|2026-01-01 10:00:05.5|20260131T101530|20260131|12/25/2026|12/25/2026 8am|25/12/2026|1/2/2026 5:30 pm|01-02-2026|12/25|Dec 25 2026|December 25, 2026 17:30|25 Dec 2026|25-Dec-2026 10:00|Dec 25|Nov 31|2026-02-30|no such day|x|soon|25:00|13pm|5:60|2026-11-23 11:59:59.5|November 23rd 2026|10h30m|Mon Nov 23 12:00:05 2026|2026-11-23T12:00:05Z|2026-11-23 12:00:05+01:00|2026-11-23T12:00:05+00:00|Thursday 3:00pm|noon|tomorrow|2026|25|1/1/30|13/13/2026|2026/1/31 4:05|3 pm, Friday|Feb 29 2028|2030-01-01|8:00|00:00|24:00|5:00:61|12.25.2026|Sat 7:30am|10 11 2026|2026 10 11|10 11|25 10|10 25|25 10 2026|2026 10|10 2026|2026 13|10 11 12|25 11 12|32 11 12|1 2 3|1 2 3 4|26 25 Dec|25 Dec 26|Dec 25 26|Dec 26 2026 1|0|0 1|12/25 2026|12/25 2026 26|2026 2027|0000|29 2 2027|17h30|2026-01-01T10|2026-01-01T1030|2026-01-01 1030|2026-01-01 5|20260101103015|202601011030|20261301|2026-01-01 Dec|Dec Jan|12/25 12/26|5pm Z|5pm UTC Z|5pm +25:00|Sept 5|2 29 2027|2026 1030""".split('|')
out={"now":"2026-11-23T00:00:00","dates":{}}
for t in texts:
    try:
        d=dateutil.parser.parse(t,default=default)
        if d.tzinfo: d=d.astimezone(datetime.timezone.utc).replace(tzinfo=None); out["dates"][t]=d.isoformat()[:19]+"Z"
        else: out["dates"][t]=d.isoformat()
    except Exception as e:
        out["dates"][t]=None
json.dump(out,open('schedule_dates.json','w'),indent=1)
crons="""*/5 * * * *|0 4 * * *|30 4 * * 2|0 0 1 * *|0 0 31 * *|0 0 29 2 *|15,45 8-17 * * mon-fri|0 0 * * 0|0 0 * * 7|0 0 * * sun|0 12 1 jan *|0 0 13 * 5|0 0 1,15 * 3|*/7 * * * *|5/15 * * * *|1-59/2 * * * *|0 22 * * 1-5|23 0-20/2 * * *|0 0 L * *|@daily|@hourly|@weekly|@monthly|@yearly|@annually|@midnight|0 0 */2 * *|0 0 */2 * 1|0 0 * * 5#2|0 0 * * L5|0 9 * * 1,3,5|*/30 * * * * 15|* * * * * */20|0 0 ? * *|0 0 * * ?|59 23 31 12 *|0 0 1-7 * 1|0 0 * feb,mar *|every day|* * * *|60 * * * *|* 24 * * *|* * 0 * *|* * * 13 *|* * * * 8|a b c d e||5-1 * * * *|*/0 * * * *|0 0 * * fri-mon|0 0 * nov-feb *|0  4  *  *  *|@reboot|0 0 30 2 *|* * * * * * * *|0 0 W * *|10-20/5 3 * * 6|1.5 * * * *|0 0 * * 7/2|*/60 * * * *|0 0 * */13 *|1-10/100 * * * *|0 0 * * */8|0 0 5-L/2 * *|0 0 L-5 * *|0 0 15W * *|0 0 W3 * *|0 0 0W * *|0 0 15W,1 * *|0 0 L,15 * *|0 22-2/2 * * *""".split('|')
rec={"after":"2026-11-23T12:00:00.5","next":{}}
for c in crons:
    try:
        it=croniter.croniter(c,datetime.datetime(2026,11,23,12,0,0,500000))
        rec["next"][c]=[it.get_next(datetime.datetime).isoformat()[:19] for _ in range(6)]
    except Exception as e:
        rec["next"][c]=None
json.dump(rec,open('schedule_cron.json','w'),indent=1)
